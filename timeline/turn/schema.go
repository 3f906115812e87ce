package turn

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"

	"github.com/docket-go/docket/timeline/segment"
)

// A schema tells the segment engine what the lines of a turn log mean.
type schema struct{}

// Classify takes an event of any version or kind for public: it is counted and must
// be refused by who reads it, not passed over.
func (schema) Classify(line []byte) segment.Class {
	if looksLikeEvent(line) && json.Valid(line) {
		return segment.Public
	}
	if _, _, ok := parseEnvelope(line); ok {
		return segment.Public
	}
	return segment.Unreadable
}

// looksLikeEvent tells by position whether a line starts as this version writes it.
func looksLikeEvent(line []byte) bool {
	const ts, kind, v = `{"ts":"`, `","kind":"`, `","v":`
	at := len(ts) + len(timeLayout)
	if len(line) < at+len(kind) || string(line[:len(ts)]) != ts || string(line[at:at+len(kind)]) != kind {
		return false
	}
	name, rest, found := bytes.Cut(line[at+len(kind):min(len(line), 100)], []byte(v))
	return found && only(name, "abcdefghijklmnopqrstuvwxyz-") && len(rest) > 0 && only(rest[:1], "0123456789")
}

// Key is the digest of the message that a turn answers.
func (schema) Key(line []byte) (digest []byte, ok bool) {
	if !bytes.Contains(line[:min(len(line), 100)], []byte(KindStarted)) {
		return nil, false
	}
	e, err := decode(line)
	if err != nil {
		return nil, false
	}
	s, ok := e.Payload.(Started)
	if !ok || s.MID == "" {
		return nil, false
	}
	return midKey(s.MID), true
}

func midKey(mid string) []byte {
	sum := sha256.Sum256([]byte("mid " + mid))
	return sum[:]
}

// Fold keeps nothing: a writer reads the whole log to validate it.
func (schema) Fold(json.RawMessage) segment.Fold { return noFold{} }

type noFold struct{}

func (noFold) Add(segment.Line) {}

func (noFold) Facts() json.RawMessage { return json.RawMessage("null") }
