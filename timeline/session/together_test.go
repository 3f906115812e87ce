package session_test

import (
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/docket-go/docket/timeline/session"
)

// createMany makes sessions and looks at each.
func createMany(store *session.Store) error {
	for i := range 40 {
		s, err := store.Create(ctx, session.New{ID: fmt.Sprintf("p%d-%d", os.Getpid(), i)})
		if err != nil {
			return err
		}
		if _, err := s.Record(); err != nil {
			return err
		}
		if err := s.Release(); err != nil {
			return err
		}
	}
	return nil
}

// Processes that make sessions at the same time take nothing of each other for what a
// dead one left.
func TestCreateTogether(t *testing.T) {
	store, err := session.OpenStore(t.TempDir(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if out, err := command(t, store, "create many").CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	n := 0
	for _, err := range store.IDs(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 6*40 {
		t.Errorf("got %d sessions, want %d", n, 6*40)
	}
}
