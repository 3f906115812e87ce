package fleet_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
)

// crowd makes a store of n sessions with two events each. Their logs are copies of
// one, and but for that they have no files.
func crowd(t testing.TB, n int) *session.Store {
	t.Helper()
	store := newStore(t)
	first := made(t, store, "s0", "1", "2")
	const log = "timeline/000000000001.ndjson"
	data, err := os.ReadFile(filepath.Join(first.Dir(), log))
	check(t, err)
	for i := 1; i < n; i++ {
		dir := filepath.Join(filepath.Dir(first.Dir()), "s"+strconv.Itoa(i))
		check(t, os.MkdirAll(filepath.Join(dir, "timeline"), 0o700))
		check(t, os.WriteFile(filepath.Join(dir, log), data, 0o600))
	}
	return store
}

// descriptors returns how many this process has open, -1 where that is not to be had.
func descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return -1
	}
	return len(entries)
}

// Ten thousand sessions cost no goroutine and no descriptor each, and are given back.
func TestManySessions(t *testing.T) {
	const sessions = 10_000
	store := crowd(t, sessions)
	goroutines, files := runtime.NumGoroutine(), descriptors()
	w := follow(t, store, fleet.Options{Mode: fleet.TailOnly})
	w.want("caught up")
	for _, id := range []string{"s9999", "s0", "s5000"} {
		s, err := store.Open(id)
		check(t, err)
		say(t, s, id)
		w.want(id + " 2 " + id)
		check(t, s.Release())
	}
	if got, most := runtime.NumGoroutine(), goroutines+10; got > most {
		t.Errorf("got %d goroutines, want at most %d", got, most)
	}
	if got, most := descriptors(), files+10; got > most {
		t.Errorf("got %d descriptors, want at most %d", got, most)
	}
	text := w.last.String()
	if most := 20 * sessions; len(text) > most {
		t.Errorf("got a cursor of %d bytes, want at most %d", len(text), most)
	}
	w.stop()
	parsed, err := fleet.ParseCursor(text)
	check(t, err)
	w = follow(t, store, fleet.Options{Mode: fleet.After, After: parsed})
	w.want("caught up")
	w.stop()
	eventually(t, "all is given back", func() bool {
		return runtime.NumGoroutine() <= goroutines && descriptors() <= files
	})
}

// eventually asks until ok is true, and fails after a minute.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
