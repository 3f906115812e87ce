package timeline_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// anything is a schema to which every line is public, as it may be to a later version.
type anything struct{}

func (anything) Classify([]byte) segment.Class     { return segment.Public }
func (anything) Key([]byte) ([]byte, bool)         { return nil, false }
func (anything) Fold(json.RawMessage) segment.Fold { return anything{} }
func (anything) Add(segment.Line)                  {}
func (anything) Facts() json.RawMessage            { return json.RawMessage(`null`) }

// A line can fit its checksum and be no event: a reader cannot show it, and Verify
// names the same place.
func TestVerifyNamesWhatNoReaderCanShow(t *testing.T) {
	const start = `{"ts":"2026-11-30T09:30:15.780Z","kind":`
	for _, tt := range []struct{ name, line string }{
		{"a note that is a number", start + `"status","status":"idle","proposal":null,"note":5}`},
		{"a status that is an object", start + `"status","status":{},"proposal":null,"note":null}`},
		{"a text that is a list", start + `"sent","mid":"m9","text":[],"from":null}`},
		{"a reply channel that is true", start + `"sent","mid":"m9","text":"hello","from":null,"replyVia":true}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newDir(t)
			l := buffered(t, dir, 0)
			appendAll(t, l, message(0))
			writeAs(t, dir, anything{}, tt.line)
			appendAll(t, l, message(1))
			faults, err := l.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var bad []*timeline.LineError
			for _, err := range l.All(t.Context()) {
				var e *timeline.LineError
				if errors.As(err, &e) {
					bad = append(bad, e)
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if len(bad) != 1 || len(faults) != 1 || faults[0].Path != bad[0].Path || faults[0].Offset != bad[0].Offset || faults[0].Severity != segment.Damage {
				t.Errorf("verify: got %+v, want the line that readers cannot show: %+v", faults, bad)
			}
		})
	}
}

// writeAs writes a line with a right checksum to the timeline in dir, whatever it is.
func writeAs(t *testing.T, dir string, s segment.Schema, line string) {
	t.Helper()
	log, err := segment.Open(dir, segment.Options{Dir: timeline.SegmentsDir(dir), Schema: s, Buffered: true})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	locks, err := lock.Open(dir, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer locks.Close()
	held, err := locks.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	if _, err := log.Write(held, []byte(line)); err != nil {
		t.Fatal(err)
	}
}
