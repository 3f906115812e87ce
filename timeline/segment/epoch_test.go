package segment_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

func epochOf(t *testing.T, log *segment.Log) segment.Epoch {
	t.Helper()
	v, err := log.View(context.Background())
	must(t, err)
	return v.Epoch()
}

// A reader that began with a log without a line, and a writer with its first write,
// know the epoch as soon as there is a line, whoever writes it.
func TestEpochOfALogThatBegins(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string][]byte // what is there before
		first string            // a line of another writer, before the first of ours
	}{
		{"nothing is there", nil, ""},
		{"an empty file", map[string][]byte{"timeline/000000000001.ndjson": nil}, ""},
		{"an empty file, and another writer", map[string][]byte{"timeline/000000000001.ndjson": nil}, public("other")},
		{"a torn header", map[string][]byte{"timeline/000000000001.ndjson": []byte(`{"ts":"2026-07-16T00:00:00.000Z","kind":"seg`)}, ""},
		{"an empty legacy file", map[string][]byte{"timeline.ndjson": nil}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := copyOf(t, tt.files, segment.Options{})
			defer f.close()
			r, err := f.log.Reader(context.Background(), 0)
			must(t, err)
			defer r.Close()
			_, _, err = drain(r)
			must(t, err)
			held, err := f.locks.Record(context.Background())
			must(t, err)
			_, err = f.log.NextSeq(held) // looks at the file, and makes no header
			must(t, err)
			must(t, held.Release())
			if tt.first != "" {
				must(t, os.WriteFile(filepath.Join(f.dir, "timeline/000000000001.ndjson"), []byte(tt.first+"\n"), 0o600))
			}
			w := f.write(t, public("m"))
			_, _, err = drain(r)
			must(t, err)
			if want := epochOf(t, f.log); w.Epoch != want || r.Epoch() != want || want == (segment.Epoch{}) {
				t.Errorf("got %v from the write, %v from the reader, want %v", w.Epoch, r.Epoch(), want)
			}
			if next := f.write(t, public("m")); next.Epoch != w.Epoch {
				t.Errorf("the second write: got %v, want %v", next.Epoch, w.Epoch)
			}
			if again, err := f.tryWrite(); err != nil || again.Epoch != w.Epoch {
				t.Errorf("a write of nothing: got %v, %v, want %v", again.Epoch, err, w.Epoch)
			}
			notes, damage := verify(t, f.handle(t))
			if wantNotes := tt.first != ""; len(damage) > 0 || (len(notes) > 0) != wantNotes {
				t.Errorf("verify: got %v %v", notes, damage)
			}
		})
	}
}
