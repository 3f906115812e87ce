package timeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"

	"github.com/docket-go/docket/timeline/segment"
)

// maxListed bounds the debts that a header lists one by one.
const maxListed = 256

// Facts are what a segment's header says about all lines before the segment, so
// that derived reads need not go there.
type facts struct {
	LastHuman  *humanFact `json:"lastHuman"`
	LastStatus *place     `json:"lastStatus"`
	Owed       []debtFact `json:"owed"`           // the oldest ones, in order
	More       *moreFact  `json:"more,omitempty"` // set when not all fit into Owed
}

type place struct {
	Seq uint64 `json:"seq"`
}

// A humanFact has no mid where that is too long for a header; its line has it.
type humanFact struct {
	MID string  `json:"mid"`
	TS  string  `json:"ts"`
	Via Channel `json:"via"`
	Seq uint64  `json:"seq"`
}

type debtFact struct {
	MID string `json:"mid"`
	Seq uint64 `json:"seq"`
}

// A moreFact stands for the debts that are not listed. All of them are at Seq or
// behind it. Sum is the wrapped sum of a hash of their mids: a settlement is taken
// off it, and when both Count and Sum are zero, nothing unlisted is owed any more.
// Where a settlement comes twice they never are, which costs a longer search and
// nothing else.
type moreFact struct {
	Seq   uint64 `json:"seq"`
	Count int64  `json:"count"`
	Sum   uint64 `json:"sum,string"`
}

func (f *facts) owe(mid string, seq uint64) {
	if f.More == nil && len(f.Owed) < maxListed && len(mid) <= maxIDBytes {
		f.Owed = append(f.Owed, debtFact{mid, seq})
		return
	}
	if f.More == nil {
		f.More = &moreFact{Seq: seq}
	}
	f.More.Count++
	f.More.Sum += hash(mid)
}

func (f *facts) discharge(mid string) {
	before := len(f.Owed)
	f.Owed = slices.DeleteFunc(f.Owed, func(d debtFact) bool { return d.MID == mid })
	if f.More == nil || len(f.Owed) < before {
		return
	}
	f.More.Count--
	f.More.Sum -= hash(mid)
	if f.More.Count == 0 && f.More.Sum == 0 {
		f.More = nil
	}
}

func hash(mid string) uint64 {
	sum := sha256.Sum256([]byte(mid))
	return binary.BigEndian.Uint64(sum[:])
}

// A fold is a [segment.Fold] over facts. Facts that cannot be read make a fold
// that knows nothing; its result is null, and readers go on past such a header.
type fold struct {
	facts   facts
	unknown bool
}

func newFold(before json.RawMessage) *fold {
	if before == nil {
		return &fold{}
	}
	f, ok := decodeFacts(before)
	return &fold{facts: f, unknown: !ok}
}

// Add takes the next line.
func (f *fold) Add(at segment.Line) {
	if f.unknown {
		return
	}
	var l line
	if !l.parseBare(&at) {
		var err error
		if l, err = parse(at.Bytes); err != nil {
			return
		}
	}
	switch l.kind {
	case statusLine:
		if f.facts.LastStatus == nil {
			f.facts.LastStatus = &place{}
		}
		f.facts.LastStatus.Seq = at.Seq
	case sentLine:
		if h, ok := l.human(at.Seq); ok {
			if len(h.MID) > maxIDBytes {
				h.MID = ""
			}
			f.facts.LastHuman = &humanFact{MID: h.MID, TS: l.string(l.ts), Via: h.Via, Seq: h.Seq}
		}
		if l.ours() {
			f.facts.owe(l.string(l.mid), at.Seq)
		}
	case settledLine, revokedLine:
		f.facts.discharge(l.string(l.mid))
	}
}

// Facts returns the facts after the last line.
func (f *fold) Facts() json.RawMessage {
	if f.unknown {
		return json.RawMessage("null")
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	stored := f.facts
	if stored.Owed == nil {
		stored.Owed = []debtFact{} // written as a list, not as null
	}
	if err := e.Encode(stored); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

// decodeFacts returns false for facts that are null or not of the stored shape.
func decodeFacts(raw json.RawMessage) (f facts, ok bool) {
	if len(raw) == 0 || raw[0] != '{' {
		return facts{}, false
	}
	return f, json.Unmarshal(raw, &f) == nil
}
