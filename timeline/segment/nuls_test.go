package segment_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// Long runs of NULs are lost ranges, the same forward and backward: each from the start
// of its line, or from the end of the run before it, to its own end. What stands behind
// one is a line, and what stands before and behind its line is not touched.
func TestLongRunsOfNULs(t *testing.T) {
	const mib = 1 << 20
	nuls := func(n int) string { return strings.Repeat("\x00", n) }
	a, b, c := public("a")+"\n", public("b")+"\n", public("c")+"\n"
	for _, tt := range []struct {
		name string
		file []string // the pieces of the file; those that start with "!" are to be lost
		want string
	}{
		{"a line of them", []string{a, "!" + nuls(mib) + "\n", b}, "a b"},
		{"a large hole", []string{a, "!" + nuls(9*mib+77) + "\n", b}, "a b"},
		{"no newline behind", []string{a, "!" + nuls(mib+1), b, c}, "a b c"},
		{"in a line", []string{a, "!" + `{"kind":"p","id":"` + nuls(3*mib), "!" + `x"}` + "\n", b}, "a b"},
		{"two in a line", []string{a, "!" + "x" + nuls(2*mib), "!" + "y" + nuls(mib), "!z\n", b}, "a b"},
		{"two behind each other", []string{a, "!" + nuls(mib) + "\n", "!" + nuls(mib+5) + "\n", b}, "a b"},
		{"at the start", []string{"!" + nuls(2*mib), a, b}, "a b"},
		{"at the end", []string{a, b, "!" + nuls(5*mib) + "\n"}, "a b"},
		{"behind a long line", []string{a, "!" + strings.Repeat("x", 3*mib) + nuls(mib), b}, "a b"},
		{"one less is a part of its line", []string{a, "!" + nuls(mib-1) + public("b") + "\n", c}, "a c"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, t.TempDir(), segment.Options{Buffered: true})
			defer f.close()
			var data strings.Builder
			var lost []string
			for _, piece := range tt.file {
				if whole, ok := strings.CutPrefix(piece, "!"); ok {
					lost = append(lost, fmt.Sprintf("%d+%d", data.Len(), len(whole)))
					piece = whole
				}
				data.WriteString(piece)
			}
			must(t, os.Mkdir(f.opts.Dir, 0o700))
			must(t, os.WriteFile(filepath.Join(f.opts.Dir, "000000000001.ndjson"), []byte(data.String()), 0o600))
			forward, bad := readFrom(t, f.log, 0)
			backward, badBack := readBack(t, f.log)
			slices.Reverse(badBack)
			for direction, got := range map[string][]segment.Line{"forward": bad, "backward": badBack} {
				if ranges := rangesOf(t, got); !slices.Equal(ranges, lost) {
					t.Errorf("%s: got %v lost, want %v", direction, ranges, lost)
				}
			}
			if !slices.Equal(forward, backward) || idsOf(forward) != tt.want {
				t.Errorf("got %v forward and %v backward, want %s", forward, backward, tt.want)
			}
			if _, damage := verify(t, f.log); len(damage) != len(lost) {
				t.Errorf("got %v, want %d damages", damage, len(lost))
			}
			if w := f.write(t, public("next")); w.First != uint64(len(forward)) {
				t.Errorf("got sequence %d for the next line, want %d", w.First, len(forward))
			}
		})
	}
}

func rangesOf(t *testing.T, bad []segment.Line) (ranges []string) {
	for _, line := range bad {
		var damage *segment.CorruptError
		if !errors.As(line.Err, &damage) || damage.Path == "" {
			t.Errorf("got %v, want what is damaged", line.Err)
			continue
		}
		ranges = append(ranges, fmt.Sprintf("%d+%d", damage.Offset, damage.Bytes))
	}
	return ranges
}

func idsOf(items []item) string {
	var ids []string
	for _, it := range items {
		ids = append(ids, it.id)
	}
	return strings.Join(ids, " ")
}
