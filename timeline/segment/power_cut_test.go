package segment_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// A cutLine is a line of a workload and when it was written and acknowledged, as
// numbers of changes. An acknowledgement of -1 never came.
type cutLine struct {
	item
	written, acked int
}

// A workload writes, rotates, opens the log anew, fails and seals.
type workload struct {
	*fixture
	recorder
	lines []cutLine
}

func newWorkload(t *testing.T, o segment.Options) *workload {
	t.Helper()
	w := &workload{fixture: newFixture(t, t.TempDir(), o)}
	w.root = w.dir
	w.log.SetDisk(w.disk())
	sends := 24
	if o.Buffered {
		sends = 14 // more of each is at stake
	}
	for i := range sends {
		w.send(t, i)
		if i%5 == 4 {
			w.anew(t)
		}
		if i == 4 || i == 17 {
			_, err := w.log.Seal(context.Background(), w.locks)
			must(t, err)
		}
		if i == 10 {
			w.failToSyncNames(t)
		}
	}
	return w
}

// anew goes on with a new handle.
func (w *workload) anew(t *testing.T) {
	t.Helper()
	must(t, w.log.Close())
	w.log = w.handle(t)
	w.log.SetDisk(w.disk())
}

// send writes one or two lines, of less and of more than a block, and syncs them.
func (w *workload) send(t *testing.T, i int) {
	t.Helper()
	var texts []string
	for j := range 1 + i%2 {
		texts = append(texts, fmt.Sprintf(`{"kind":"p","id":"%d.%d","x":"%0*d"}`, i, j, 650*(i%2), 0))
	}
	written, err := w.tryWrite(texts...)
	if errors.Is(err, segment.ErrFaulted) {
		return
	}
	must(t, err)
	before, acked := len(w.changes), -1
	must(t, w.log.Sync(written))
	if !w.opts.Buffered {
		acked = len(w.changes)
	}
	for j := range texts {
		w.lines = append(w.lines, cutLine{item{fmt.Sprintf("%d.%d", i, j), true, written.First + uint64(j)}, before, acked})
	}
}

// failToSyncNames writes until a rotation cannot make the new name durable, and goes
// on with a new handle: what the rotation has left is not taken for durable.
func (w *workload) failToSyncNames(t *testing.T) {
	t.Helper()
	broken, failed := w.disk(), false
	broken.SyncDir = func(string) error { failed = true; return syscall.EIO }
	w.log.SetDisk(broken)
	for i := 100; !failed; i++ {
		if i == 200 {
			t.Fatal("a hundred writes have made no name durable")
		}
		w.send(t, i)
	}
	w.anew(t)
}

// The power is cut behind each change of a workload, and everything that a disk can
// have kept of what was not synced is tried. What was acknowledged is there in all of
// it, the rest is missing from the end, and one ordinary write leaves a log in which
// nothing is damaged. Only where the disk lost a block before one that it kept, a
// line that was never acknowledged is damaged, and reported.
func TestPowerCut(t *testing.T) {
	for _, buffered := range []bool{false, true} {
		t.Run(fmt.Sprintf("buffered %v", buffered), func(t *testing.T) {
			o := segment.Options{SegmentBytes: 2300, Buffered: buffered}
			load := newWorkload(t, o)
			load.close()
			changes, lines := load.changes, load.lines
			seen, holes := map[string]bool{}, 0
			root := t.TempDir()
			for cut := range len(changes) + 1 {
				var acked []item
				for _, line := range lines {
					if line.acked >= 0 && line.acked <= cut {
						acked = append(acked, line.item)
					}
				}
				replay(changes[:cut]).wrecks(func(w wreck) {
					if key := keyOf(w, len(acked)); seen[key] || t.Failed() {
						return
					} else {
						seen[key] = true
					}
					if w.hole {
						holes++
					}
					checkWreck(t, filepath.Join(root, fmt.Sprint(len(seen))), w, o, acked, lines, fmt.Sprintf("cut behind %d", cut))
				})
			}
			t.Logf("%d changes, %d wrecks, %d with a hole", len(changes), len(seen), holes)
			if len(seen) < 200 || holes == 0 {
				t.Errorf("got %d wrecks, %d with a hole: the workload does too little", len(seen), holes)
			}
		})
	}
}

func keyOf(w wreck, acked int) string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		fmt.Fprintf(h, "%s %d %s", path, len(w.files[path]), w.files[path])
	}
	return fmt.Sprintf("%d %x", acked, h.Sum(nil))
}

func checkWreck(t *testing.T, dir string, w wreck, o segment.Options, acked []item, lines []cutLine, what string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Join(dir, "timeline"), 0o700))
	defer os.RemoveAll(dir)
	for path, data := range w.files {
		must(t, os.WriteFile(filepath.Join(dir, path), data, 0o600))
	}
	f := newFixture(t, dir, o)
	defer f.close()
	f.speedUp(t)
	got, bad := readFrom(t, f.log, 0)
	if problem := lostFrom(got, bad, w.hole, acked, lines); problem != "" {
		t.Errorf("%s: %s\n%s", what, problem, describe(w))
		return
	}
	if _, damage := verify(t, f.log); !w.hole && len(damage) > 0 {
		t.Errorf("%s: before a write verify finds %v\n%s", what, damage, describe(w))
		return
	}
	next := f.write(t, public("after"))
	after, bad := readFrom(t, f.handle(t), 0)
	sameItems(t, what+": after a write", after, append(got, item{"after", true, next.First}))
	if _, damage := verify(t, f.handle(t)); !w.hole && len(damage)+len(bad) > 0 {
		t.Errorf("%s: verify finds %v\n%s", what, damage, describe(w))
	}
}

// lostFrom says what a power cut has taken that it must not, or where it is not
// reported.
func lostFrom(got []item, bad []segment.Line, hole bool, acked []item, lines []cutLine) string {
	if len(got) < len(acked) || !slices.Equal(got[:len(acked)], acked) {
		return fmt.Sprintf("got %v, acknowledged were %v", got, acked)
	}
	all := make([]item, len(lines))
	for i, line := range lines {
		all[i] = line.item
	}
	switch {
	case hole && len(bad) <= 1:
		return ""
	case len(bad) > 0:
		return fmt.Sprintf("got damage: %v", bad[0].Err)
	case !slices.Equal(got, all[:min(len(got), len(all))]):
		return fmt.Sprintf("got %v, want a part of %v from its start", got, all)
	}
	return ""
}

func describe(w wreck) string {
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(w.files)) {
		fmt.Fprintf(&out, "%s: %d bytes\n", path, len(w.files[path]))
	}
	return out.String()
}
