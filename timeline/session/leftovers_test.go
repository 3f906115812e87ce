package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/docket-go/docket/timeline/session"
)

func TestLeftoversAreWhatTheDeadLeft(t *testing.T) {
	dir := t.TempDir()
	store, err := session.OpenStore(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wantLeftovers := func(want ...string) {
		t.Helper()
		if got, err := store.Leftovers(); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %v, %v, want %v", got, err, want)
		}
	}
	wantLeftovers() // there is no store
	create := func(id string) {
		t.Helper()
		s, err := store.Create(t.Context(), session.New{ID: id})
		if err := errors.Join(err, s.Release()); err != nil {
			t.Fatal(err)
		}
	}
	create("s1")
	wantLeftovers()
	aside := filepath.Join(dir, "sessions", ".staging")
	made, removed := filepath.Join(aside, "new-x"), filepath.Join(aside, "closed-y")
	if err := errors.Join(os.Mkdir(made, 0o700), os.Mkdir(removed, 0o700)); err != nil {
		t.Fatal(err)
	}
	wantLeftovers(removed, made)
	create("s2")
	wantLeftovers()
}
