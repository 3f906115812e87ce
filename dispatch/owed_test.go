package dispatch_test

import (
	"bytes"
	"context"
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
		owed := w.pending("s1")
		if n != want || len(owed) != want {
			t.Fatalf("got %d, and %d pending, want %d", n, len(owed), want)
		}
		wantEqual(t, "one by one", w.debts("s1"), owed)
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
	if n := len(w.debts("s1")); n != 101 {
		t.Fatalf("one by one: got %d, want 101", n)
	}
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

// debts returns the mids of what is owed, as Debts yields them.
func (w *world) debts(id string) (mids []string) {
	w.t.Helper()
	for e, err := range w.Debts(w.t.Context(), id) {
		must(w.t, err)
		mids = append(mids, e.MID)
	}
	return mids
}

// Debts of a damaged queue are those that can be read, and then the fault; those of no
// session are an error alone. Who has seen enough, or calls it off, gets no more.
func TestDebtsEnd(t *testing.T) {
	w := newWorld(t, "s1")
	var all []string
	for _, text := range []string{"one", "two", "three"} {
		all = append(all, w.later("s1", text))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for e, err := range w.Debts(ctx, "s1") {
		if e.MID == all[0] {
			cancel()
			continue
		}
		wantIs(t, err, context.Canceled)
	}
	for e := range w.Debts(t.Context(), "s1") {
		if e.MID == all[1] {
			break
		}
	}
	path := w.path("s1", "pending.json")
	list, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, bytes.Replace(list, []byte(`"text":"two`), []byte(`"text":"tow`), 1), 0o600))
	for id, want := range map[string]error{"s1": queue.ErrCorrupt, "s2": session.ErrNotFound} {
		var got []string
		var last error
		for e, err := range w.Debts(t.Context(), id) {
			if last = err; err == nil {
				got = append(got, e.MID)
			}
		}
		wantIs(t, last, want)
		if id == "s1" {
			wantEqual(t, "beside the fault", got, []string{all[0], all[2]})
		}
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
