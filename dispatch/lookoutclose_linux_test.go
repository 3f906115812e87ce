package dispatch_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/docket-go/docket/dispatch"
)

// A session that is removed while the sweeper ends leaves the watcher with an error that
// nobody reads, and with its lock held.
func TestASweeperEndsWithAnErrorThatNobodyReads(t *testing.T) {
	w, err := fsnotify.NewWatcher()
	must(t, err)
	dir := filepath.Join(t.TempDir(), "s1")
	must(t, os.Mkdir(dir, 0o700))
	must(t, w.Add(dir))
	must(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600)) // the watcher waits until this is read
	must(t, os.Remove(filepath.Join(dir, "f")))
	must(t, os.Rename(dir, dir+"-closed"))
	must(t, os.Remove(dir+"-closed"))
	for e := range w.Events {
		if e.Has(fsnotify.Remove) {
			break
		}
	}
	eventually(t, "the watcher waits with its lock held", func() bool {
		answer := make(chan struct{})
		go func() { w.WatchList(); close(answer) }()
		select {
		case <-answer:
			return false
		case <-time.After(20 * time.Millisecond):
			return true
		}
	})
	closed := make(chan struct{})
	go func() { dispatch.CloseWatcher(w); close(closed) }()
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Error("got no end of closing")
	}
}
