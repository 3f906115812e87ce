package segment_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

func look(f *fixture) (l segment.Look, ok, none bool) {
	return new(segment.Looker).Look(f.opts.Dir, testSchema{})
}

// lookBelow is look the short way.
func lookBelow(f *fixture) (look segment.Look, ok, none bool) {
	var l segment.Looker
	l.Below(f.dir)
	defer l.Close()
	return l.Look(f.opts.Dir, testSchema{})
}

// agree fails if a look tells something else of a log than a view.
func agree(t *testing.T, f *fixture, what string) (ok bool) {
	t.Helper()
	got, ok, none := look(f)
	if short, okBelow, noneBelow := lookBelow(f); short != got || okBelow != ok || noneBelow != none {
		t.Errorf("%s: got %+v, %v, %v the short way, want %+v, %v, %v", what, short, okBelow, noneBelow, got, ok, none)
	}
	v, err := f.handle(t).View(context.Background())
	must(t, err)
	if ok && (got.Epoch != v.Epoch() || got.End != v.End()) {
		t.Errorf("%s: got epoch %v and end %d, want %v and %d", what, got.Epoch, got.End, v.Epoch(), v.End())
	}
	if ok && got.Changed(f.opts.Dir) || ok && none {
		t.Errorf("%s: got a sight that is not there", what)
	}
	return ok
}

// A look is enough for a log in one segment, however its last line counts.
func TestLook(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 20 << 10})
	defer f.close()
	if _, ok, none := look(f); ok || !none {
		t.Errorf("no directory: got %v, %v", ok, none)
	}
	for _, tt := range []struct {
		line   string
		enough bool
	}{
		{public("a"), true}, {private("b"), true}, {public("c"), true},
		{public(strings.Repeat("d", 6000)), false}, // longer than what is read
		{public("e"), true},
	} {
		f.write(t, tt.line)
		if got := agree(t, f, tt.line[:20]); got != tt.enough {
			t.Errorf("behind %.20s: got %v from a look, want %v", tt.line, got, tt.enough)
		}
	}
	before, _, _ := look(f)
	if !agree(t, f, "a tail alone") || before.End != 4 {
		t.Errorf("got %+v", before)
	}
	f.write(t, public(strings.Repeat("f", 20<<10)))
	if _, ok, _ := look(f); ok {
		t.Error("two segments: got an answer from the first")
	}
	if got := segment.SightOf(f.opts.Dir, 0); got.Segment != 2 || got != segment.SightOf(f.opts.Dir, 1) || !before.Passed(f.opts.Dir) || got.Passed(f.opts.Dir) {
		t.Errorf("got %+v", got)
	}
	sealed, err := f.log.Seal(context.Background(), f.locks)
	must(t, err)
	if len(sealed) != 1 {
		t.Fatalf("got %d sealed segments", len(sealed))
	}
	if got := segment.SightOf(f.opts.Dir, 1); got.Segment != 2 || !before.Changed(f.opts.Dir) {
		t.Errorf("got %+v of a log whose first segment is sealed", got)
	}
}

// Whatever byte is lost or changed, a look says what a view does, or nothing.
func TestLookAtDamage(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{})
	defer f.close()
	f.write(t, public("a"), private("b"))
	f.write(t, public("c"))
	path := segmentPath(f, 1)
	whole := fileBytes(t, path)
	for i := range whole {
		must(t, os.WriteFile(path, whole[:i], 0o600))
		agree(t, f, "cut "+string(whole[:i]))
		for _, b := range []byte{0, '\n', '7', whole[i] ^ 1} {
			bad := bytes.Clone(whole)
			bad[i] = b
			must(t, os.WriteFile(path, bad, 0o600))
			agree(t, f, "changed "+string(bad))
		}
	}
}

// What is no plain file is left to the view, which says what is wrong.
func TestLookAtLinks(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{})
	defer f.close()
	f.write(t, public("a"))
	path := segmentPath(f, 1)
	elsewhere := filepath.Join(f.dir, "elsewhere")
	must(t, os.Rename(path, elsewhere))
	must(t, os.Symlink(elsewhere, path))
	for _, look := range []func(*fixture) (segment.Look, bool, bool){look, lookBelow} {
		if _, ok, none := look(f); ok || none {
			t.Errorf("a link: got %v, %v", ok, none)
		}
	}
	must(t, os.Remove(path))
	must(t, os.Mkdir(path, 0o700))
	if _, ok, none := look(f); ok || none {
		t.Errorf("a directory: got %v, %v", ok, none)
	}
}
