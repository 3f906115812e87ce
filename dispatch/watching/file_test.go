package watching_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/docket-go/docket/dispatch/watching"
)

// damaged gives a world in which lead watches s1 and something is to be told, with the
// list as it stands then.
func damaged(t *testing.T) (w *world, list []byte) {
	w = newWorld(t, "s1", "lead")
	w.watch("s1", "lead")
	w.declare("s1", "one")
	list, err := os.ReadFile(w.file("s1"))
	must(t, err)
	return w, list
}

// refuses checks that nobody takes the list for one of nobody, and that it stays.
func (w *world) refuses(t *testing.T, want error) {
	t.Helper()
	before, err := os.ReadFile(w.file("s1"))
	must(t, err)
	_, told := w.w.Tell(t.Context(), "s1", watching.TellOptions{})
	_, listed := w.w.List("s1")
	_, added := w.w.Add(t.Context(), "s1", watching.Request{By: "lead"})
	for _, err := range []error{told, listed, added, w.w.Remove(t.Context(), "s1", "lead")} {
		if !errors.Is(err, want) || !strings.Contains(err.Error(), w.file("s1")) {
			t.Fatalf("%.40q: got %v, want %v with the path", before, err, want)
		}
	}
	if after, err := os.ReadFile(w.file("s1")); err != nil || string(after) != string(before) {
		t.Fatalf("got %q, %v, want it as it was", after, err)
	}
}

func TestTornList(t *testing.T) {
	w, whole := damaged(t)
	for n := range len(whole) - 1 { // without the newline it is whole
		must(t, os.WriteFile(w.file("s1"), whole[:n], 0o600))
		w.refuses(t, watching.ErrCorrupt)
	}
	w.mend(t, whole)
}

// mend puts the good list back, by which everything goes on.
func (w *world) mend(t *testing.T, whole []byte) {
	t.Helper()
	must(t, os.WriteFile(w.file("s1"), whole, 0o600))
	w.tell("s1")
	wantEqual(t, "lead", w.notes("lead"), list("one"))
}

func TestFlippedList(t *testing.T) {
	w, whole := damaged(t)
	for i := range len(whole) - 1 {
		flipped := append([]byte{}, whole...)
		flipped[i] ^= 1
		must(t, os.WriteFile(w.file("s1"), flipped, 0o600))
		if _, err := w.w.List("s1"); !errors.Is(err, watching.ErrCorrupt) && !errors.Is(err, watching.ErrVersion) {
			t.Fatalf("byte %d flipped: got %v in %s", i, err, flipped)
		}
	}
	w.mend(t, whole)
}

func TestOddLists(t *testing.T) {
	w, whole := damaged(t)
	for name, tt := range map[string]struct {
		content string
		want    error
	}{
		"empty":            {"", watching.ErrCorrupt},
		"nothing":          {"null", watching.ErrCorrupt},
		"an older version": {`{"version":0,"crc":"","watchers":[]}`, watching.ErrCorrupt},
		"a later version":  {`{"version":2,"people":[]}`, watching.ErrVersion},
		"twice":            {string(whole) + string(whole), watching.ErrCorrupt},
		"NULs":             {strings.Repeat("\x00", 100), watching.ErrCorrupt},
		"too large":        {strings.Repeat(" ", 17<<20), watching.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.WriteFile(w.file("s1"), []byte(tt.content), 0o600))
			w.refuses(t, tt.want)
		})
	}
	must(t, os.Remove(w.file("s1")))
	must(t, os.Mkdir(w.file("s1"), 0o700))
	_, err := w.w.Tell(t.Context(), "s1", watching.TellOptions{})
	wantIs(t, err, watching.ErrCorrupt)
	must(t, os.Remove(w.file("s1")))
	w.mend(t, whole)
}
