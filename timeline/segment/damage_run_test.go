package segment_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// A run of NULs and a cut, at every few bytes of every file, plain or sealed, cost
// what they touch and nothing else: all other lines come back as they were, forward
// and backward, and Verify says what happened. Only a cut between two lines at the end
// of the newest segment cannot be told from a log that ends there.
func TestNULRunsAndCuts(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 900, Buffered: true})
		defer f.close()
		f.speedUp(t)
		filled(t, f, 24)
		if sealed {
			_, err := f.log.Seal(context.Background(), f.locks)
			must(t, err)
		}
		want := stand(t, f.log)
		paths, err := filepath.Glob(filepath.Join(f.dir, "timeline", "*"))
		must(t, err)
		if len(paths) < 3 {
			t.Fatalf("got segments %v, want more", paths)
		}
		for i, path := range paths {
			data, newest := fileBytes(t, path), i == len(paths)-1
			for at := 0; at < len(data); at += 13 {
				end := min(at+40, len(data))
				nuls := slices.Concat(data[:at], make([]byte, end-at), data[end:])
				must(t, os.WriteFile(path, nuls, 0o600))
				what := fmt.Sprintf("%s: NULs at %d", filepath.Base(path), at)
				checkDamaged(t, f.handle(t), what, kept(want, i+1, data, at, end), newest && end == len(data))
				must(t, os.WriteFile(path, data[:at], 0o600))
				what = fmt.Sprintf("%s: cut at %d", filepath.Base(path), at)
				checkDamaged(t, f.handle(t), what, kept(want, i+1, data, at, len(data)), newest)
			}
			must(t, os.WriteFile(path, data, 0o600))
		}
	}
}

// A standing is an item and the segment in which it stands.
type standing struct {
	item
	segment uint64
}

func stand(t *testing.T, log *segment.Log) (all []standing) {
	t.Helper()
	r, err := log.Reader(context.Background(), 0)
	must(t, err)
	defer r.Close()
	for {
		line, err := r.Next(context.Background())
		if err != nil {
			return all
		}
		if it, ok := itemOf(line); ok {
			all = append(all, standing{it, line.Segment})
		}
	}
}

// kept returns the items that a change of the bytes from..to of segment n must
// leave: those of other segments, and of a plain one the lines that it does not
// touch. A newline that is gone joins its line to the next.
func kept(all []standing, n int, data []byte, from, to int) (items []item) {
	whole := map[string]bool{}
	at := 0
	for line := range bytes.Lines(data) {
		end := at + len(line)
		var v testLine
		if (end <= from || at > to) && json.Unmarshal(line, &v) == nil {
			whole[v.ID] = true
		}
		at = end
	}
	for _, s := range all {
		if s.segment != uint64(n) || whole[s.id] {
			items = append(items, s.item)
		}
	}
	return items
}

// checkDamaged reads a log of which the given items must be there at least.
func checkDamaged(t *testing.T, log *segment.Log, what string, want []item, silent bool) {
	t.Helper()
	forward, _ := readFrom(t, log, 0)
	backward, _ := readBack(t, log)
	for direction, got := range map[string][]item{"forward": forward, "backward": backward} {
		for _, it := range want {
			if !slices.Contains(got, it) {
				t.Fatalf("%s: %s: %v is missing or moved\ngot  %v\nwant %v", what, direction, it, got, want)
			}
		}
	}
	if notes, damage := verify(t, log); len(damage) == 0 && !silent {
		t.Fatalf("%s: verify finds no damage, but %v", what, notes)
	}
}
