package segment_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// One flipped bit costs at most the line that it is in, or two lines if it was the
// newline between them. All others come back with the sequence they had, forward
// and backward, and Verify names the damage.
func TestEveryFlippedByte(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 440, Buffered: true})
	defer f.close()
	f.speedUp(t)
	want := filled(t, f, 12)
	files := contents(t, f)
	if len(files) < 3 {
		t.Fatalf("got %d segments, want more", len(files))
	}
	for n := 1; n <= len(files); n++ {
		path := segmentPath(f, n)
		data := fileBytes(t, path)
		for at := range data {
			bad := bytes.Clone(data)
			bad[at] ^= []byte{1, 0x80}[at%2]
			must(t, os.WriteFile(path, bad, 0o600))
			what := fmt.Sprintf("segment %d byte %d", n, at)
			log := f.handle(t)
			forward, _ := readFrom(t, log, 0)
			checkLost(t, what+", forward", forward, want)
			backward, _ := readBack(t, log)
			checkLost(t, what+", backward", backward, want)
			last := n == len(files) && at == len(data)-1 // its newline: the line was never committed
			if notes, damage := verify(t, log); len(damage) == 0 && (!last || len(notes) == 0) {
				t.Fatalf("%s: verify finds nothing but %v", what, notes)
			}
		}
		must(t, os.WriteFile(path, data, 0o600))
	}
}

// checkLost allows for one damaged line: two items may be missing, and one may be
// changed, or stand where a header was.
func checkLost(t *testing.T, what string, got, want []item) {
	t.Helper()
	have := map[item]bool{}
	for _, it := range got {
		have[it] = true
	}
	missing := 0
	for _, it := range want {
		if !have[it] {
			missing++
		}
	}
	if missing > 2 || len(got) > len(want)+1 {
		t.Fatalf("%s: %d lines are missing or moved\ngot  %v\nwant %v", what, missing, got, want)
	}
}
