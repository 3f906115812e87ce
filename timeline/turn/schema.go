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
	if _, err := decode(line); err == nil {
		return segment.Public
	}
	if _, _, ok := parseEnvelope(line); ok {
		return segment.Public
	}
	return segment.Unreadable
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
