package dispatch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/session"
)

// Owed is the number of what Pending returns, in a short queue and in one that is not
// read for that, also behind a change that nobody completed.
func TestOwedCountsWhatPendingReturns(t *testing.T) {
	w := &world{t: t, dir: t.TempDir(), agent: &agent{}, buffered: true}
	w.reopen(dispatch.Options{})
	w.create("s1")
	agree := func(want int) {
		t.Helper()
		n, err := w.Owed(t.Context(), "s1")
		must(t, err)
		if owed := w.pending("s1"); n != want || len(owed) != want {
			t.Fatalf("got %d, and %d pending, want %d", n, len(owed), want)
		}
	}
	agree(0)
	w.later("s1", "one")
	agree(1)
	for range 100 {
		w.later("s1", strings.Repeat("many more ", 100))
	}
	agree(101)
	w.interrupt("s1", func(dir string) {
		path := filepath.Join(dir, "pending.json")
		list, err := os.ReadFile(path)
		must(t, err)
		must(t, os.WriteFile(path, list[:len(list)-2], 0o600)) // an end that is not there yet
	})
	agree(101)
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	agree(0)
	if _, err := w.Owed(t.Context(), "s2"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("no session: got %v", err)
	}
	w.later("s1", "one")
	s, err := w.store.Open("s1")
	must(t, err)
	defer s.Release()
	must(t, os.WriteFile(filepath.Join(s.Dir(), "pending.json"), []byte("?"), 0o600))
	if _, err := w.Owed(t.Context(), "s1"); !errors.Is(err, queue.ErrCorrupt) {
		t.Errorf("a damaged queue: got %v", err)
	}
}

// interrupt leaves the session as somebody who dies in a change does, after leave.
func (w *world) interrupt(id string, leave func(dir string)) {
	w.t.Helper()
	s, err := w.store.Open(id)
	must(w.t, err)
	defer s.Release()
	held, err := s.Locks().Record(w.t.Context())
	must(w.t, err)
	must(w.t, held.Begin())
	leave(s.Dir())
	must(w.t, held.Release())
}
