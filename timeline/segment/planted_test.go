package segment_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// Symbolic links that somebody planted in the session directory lead nowhere:
// nothing outside is written, and nothing outside is read as a line of the log.
func TestPlantedSymlinks(t *testing.T) {
	outside := t.TempDir()
	target := filepath.Join(outside, "000000000001.ndjson")
	must(t, os.WriteFile(target, []byte(public("outside")+"\n"), 0o600))
	for _, tt := range []struct {
		name, link, to string
		refused        bool
	}{
		{"a segment", "timeline/000000000001.ndjson", target, false},
		{"a sealed segment", "timeline/000000000001.ndjson.zst", target, false},
		{"the next segment", "timeline/000000000002.ndjson", target, false},
		{"the legacy segment", "timeline.ndjson", target, false},
		{"the directory", "timeline", outside, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 300})
			defer f.close()
			link := filepath.Join(f.dir, tt.link)
			must(t, os.MkdirAll(filepath.Dir(link), 0o700))
			must(t, os.Symlink(tt.to, link))
			for range 5 {
				if _, err := f.tryWrite(public("own")); (err != nil) != tt.refused {
					t.Fatalf("write: got %v, refused must be %v", err, tt.refused)
				}
			}
			if _, err := f.log.View(context.Background()); (err != nil) != tt.refused {
				t.Fatalf("view: got %v, refused must be %v", err, tt.refused)
			}
			if !tt.refused {
				items, _ := readFrom(t, f.log, 0)
				if len(items) != 5 || items[0].id != "own" {
					t.Errorf("got %v", items)
				}
			}
			if got := string(fileBytes(t, target)); got != public("outside")+"\n" {
				t.Errorf("the file outside was changed to %q", got)
			}
			if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
				t.Errorf("got %d files outside, %v", len(entries), err)
			}
		})
	}
}
