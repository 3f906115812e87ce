package timeline

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"strconv"

	"github.com/docket-go/docket/timeline/segment"
)

// A schema tells the segment engine what the lines of a timeline mean.
type schema struct{}

// Classify answers by taking the line apart, which is cheap enough to do it whole:
// a torn line that another program glued to the next one must not pass for an
// event because it starts like one.
func (schema) Classify(raw []byte) segment.Class {
	l, err := parse(raw)
	if err != nil {
		return segment.Unreadable
	}
	return l.class()
}

// ClassifyIntact need not look for damage: the place of the kind tells.
func (s schema) ClassifyIntact(raw []byte) segment.Class {
	kind, _ := kindByShape(raw)
	if kind == otherLine {
		return s.Classify(raw)
	}
	l := line{kind: kind}
	return l.class()
}

// KeyIntact finds the request where this package writes it.
func (s schema) KeyIntact(raw []byte) (digest []byte, ok bool) {
	kind, rest := kindByShape(raw)
	first := `,"operation":`
	switch kind {
	case statusLine:
		return nil, false
	case sentLine:
		var l line
		if rest, ok = l.parseShape(raw); !ok {
			return s.Key(raw)
		}
		inside, keyed := bytes.CutPrefix(raw[rest:], []byte(`,"dispatchReceipt":{`))
		if !keyed {
			return nil, false
		}
		rest, first = len(raw)-len(inside), first[1:]
	case settledLine, revokedLine:
		if !bytes.HasPrefix(raw[rest:], []byte(first)) {
			return nil, false
		}
	}
	var operation, request value
	at := shape{raw, rest}
	if kind == otherLine || !at.field(first, &operation) || !at.field(`,"requestDigest":`, &request) ||
		!operation.plain || !request.plain || request.to == request.from+len(`""`) {
		return s.Key(raw)
	}
	return requestKey(string(raw[operation.from+1:operation.to-1]), string(raw[request.from+1:request.to-1])), true
}

// Key is the digest of a request: its accepted message, its settlement and its
// revocation have the same.
func (schema) Key(raw []byte) (digest []byte, ok bool) {
	if !bytes.Contains(raw, []byte("requestDigest")) && bytes.IndexByte(raw, '\\') < 0 {
		return nil, false
	}
	l, err := parse(raw)
	if err != nil {
		return nil, false
	}
	var operation, request string
	switch l.kind {
	case sentLine:
		r := decodeReceipt(l.raw, l.receipt)
		if r == nil {
			return nil, false
		}
		operation, request = r.Operation, r.RequestDigest
	case settledLine, revokedLine:
		operation, request = l.string(l.operation), l.string(l.requestDigest)
	}
	if request == "" {
		return nil, false
	}
	return requestKey(operation, request), true
}

// Fold goes on from facts.
func (schema) Fold(facts json.RawMessage) segment.Fold { return newFold(facts) }

func requestKey(operation, requestDigest string) []byte {
	var room [256]byte
	text := append(strconv.AppendInt(room[:0], int64(len(operation)), 10), ':')
	sum := sha256.Sum256(append(append(text, operation...), requestDigest...))
	return sum[:]
}
