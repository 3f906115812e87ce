package segment

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strconv"
	"time"
)

const (
	version        = 1
	headerKind     = `"kind":"segment"`
	checkField     = `,"check":"`
	timeLayout     = "2006-01-02T15:04:05.000Z"
	headBytes      = 512     // enough for everything before the facts
	maxHeaderBytes = 4 << 20 // what claims to be a longer header is none
)

// An Epoch names one life of one log. The zero Epoch is that of an empty log.
type Epoch [16]byte

func (e Epoch) String() string { return hex.EncodeToString(e[:]) }

// A header is the first line of a segment that the engine made.
type header struct {
	Time    string
	Version int
	Epoch   Epoch
	First   uint64          // public lines before this segment
	Prev    string          // SHA-256 of the segment before, in hex; empty for none
	Facts   json.RawMessage // the schema's fold over everything before this segment
	Keys    []byte          // filter over the keys of the segment before, in base64
	HasKeys bool            // false: the filter is not known
}

var (
	errNoHeader  = errors.New("no segment header")
	errBadHeader = errors.New("segment header is damaged")
	castagnoli   = crc32.MakeTable(crc32.Castagnoli)
)

func formatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// append writes the header line with its newline.
func (h *header) append(dst []byte) []byte {
	start := len(dst)
	dst = fmt.Appendf(dst, `{"ts":"%s",%s,"version":%d,"epoch":"%s","first":%d,"prev":`, h.Time, headerKind, h.Version, h.Epoch, h.First)
	if h.Prev == "" {
		dst = append(dst, "null"...)
	} else {
		dst = fmt.Appendf(dst, `"%s"`, h.Prev)
	}
	facts := h.Facts
	if len(facts) == 0 {
		facts = json.RawMessage("null")
	}
	dst = append(append(dst, `,"facts":`...), facts...)
	if h.HasKeys {
		dst = append(dst, `,"keys":"`...)
		dst = append(append(dst, h.Keys...), '"')
	}
	sum := crc32.Checksum(dst[start:], castagnoli)
	return fmt.Appendf(dst, `%s%08x","seq":%d}`+"\n", checkField, sum, h.First)
}

// looksLikeHeader tells by a glance whether a line can be a header.
func looksLikeHeader(line []byte) bool {
	return bytes.Contains(line[:min(len(line), 80)], []byte(headerKind))
}

// parseHeader reads a header line without its newline. A line that is none is
// errNoHeader; one whose bytes were changed is errBadHeader.
func parseHeader(line []byte) (*header, error) {
	if !looksLikeHeader(line) {
		return nil, errNoHeader
	}
	seq, ok := seqOf(line)
	cut := bytes.LastIndex(line, []byte(checkField))
	if !ok || cut < 0 {
		return nil, errBadHeader
	}
	tail := line[cut+len(checkField):]
	var room [48]byte
	sum := hexOf(crc32.Checksum(line[:cut], castagnoli))
	want := append(append(room[:0], sum[:]...), `",`+seqField...)
	if want = append(strconv.AppendUint(want, seq, 10), '}'); !bytes.Equal(tail, want) {
		return nil, errBadHeader
	}
	h, err := decodeHeader(line)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadHeader, err)
	}
	if h.First != seq || h.Version < version {
		return nil, errBadHeader
	}
	return h, nil
}

// decodeHeader decodes what the check has shown to be whole. That the facts are JSON
// was looked at when they were written.
func decodeHeader(line []byte) (*header, error) {
	p := headerParser{rest: line}
	h := &header{}
	p.lit(`{"ts":"`)
	h.Time = string(p.untilQuote())
	p.lit(`",` + headerKind + `,"version":`)
	h.Version = int(p.number())
	p.lit(`,"epoch":"`)
	if epoch := p.untilQuote(); hex.DecodedLen(len(epoch)) == len(h.Epoch) {
		_, err := hex.Decode(h.Epoch[:], epoch)
		p.fail(err)
	} else {
		p.fail(errors.New("bad epoch"))
	}
	p.lit(`","first":`)
	h.First = p.number()
	p.lit(`,"prev":`)
	if !p.try("null") {
		p.lit(`"`)
		h.Prev = string(p.untilQuote())
		p.lit(`"`)
	}
	p.lit(`,"facts":`)
	rest := p.rest[:max(0, bytes.LastIndex(p.rest, []byte(checkField)))]
	h.Facts = bytes.Clone(rest)
	if i := bytes.LastIndex(rest, []byte(`,"keys":"`)); i >= 0 && bytes.HasSuffix(rest, []byte{'"'}) {
		h.Facts, h.Keys, h.HasKeys = h.Facts[:i:i], h.Facts[i+len(`,"keys":"`):len(h.Facts)-1], true
	}
	return h, p.err
}

// A headerParser walks along the fixed order of a header's fields.
type headerParser struct {
	rest []byte
	err  error
}

func (p *headerParser) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

func (p *headerParser) try(text string) bool {
	rest, ok := bytes.CutPrefix(p.rest, []byte(text))
	p.rest = rest
	return ok
}

func (p *headerParser) lit(text string) {
	if !p.try(text) {
		p.fail(fmt.Errorf("no %s", text))
	}
}

func (p *headerParser) untilQuote() []byte {
	i := max(0, bytes.IndexByte(p.rest, '"'))
	field := p.rest[:i]
	p.rest = p.rest[i:]
	return field
}

func (p *headerParser) number() uint64 {
	i := 0
	for i < len(p.rest) && p.rest[i]-'0' <= 9 {
		i++
	}
	n, err := strconv.ParseUint(string(p.rest[:i]), 10, 64)
	p.fail(err)
	p.rest = p.rest[i:]
	return n
}

// looseEpoch reads the epoch out of a header whose other bytes are damaged.
func looseEpoch(line []byte) (e Epoch, ok bool) {
	const field = `"epoch":"`
	i := bytes.Index(line[:min(len(line), headBytes)], []byte(field))
	if i < 0 || !looksLikeHeader(line) || len(line) < i+len(field)+2*len(e) {
		return e, false
	}
	_, err := hex.Decode(e[:], line[i+len(field):][:2*len(e)])
	return e, err == nil
}
