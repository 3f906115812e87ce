package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline/session"
)

// Three agents ask; each is answered once, although the supervisor runs twice.
func TestEveryQuestionIsAnsweredOnce(t *testing.T) {
	dir, inbox := t.TempDir(), filepath.Join(t.TempDir(), "inbox")
	store, err := session.OpenStore(dir, session.Options{})
	must(t, err)
	ids := []string{"a", "b", "c"}
	for _, id := range ids {
		s, err := store.Create(t.Context(), session.New{ID: id, Adapter: "file", Settings: map[string]string{"path": inbox}})
		must(t, err)
		defer s.Release()
		for _, note := range []string{"which branch?", "which name?"} {
			_, err = s.Declare(t.Context(), session.Declaration{Status: session.StatusAsking, Note: note})
			must(t, err)
			_, err = s.Declare(t.Context(), session.Declaration{Status: session.StatusActive})
			must(t, err)
		}
	}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- supervise(ctx, dir, ids, "the second one") }()
		waitForLines(t, inbox, 6)
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if got := lines(inbox); got != 6 {
		t.Fatalf("got %d answers, want 6", got)
	}
}

func lines(path string) int {
	content, _ := os.ReadFile(path)
	return bytes.Count(content, []byte("\n"))
}

func waitForLines(t *testing.T, path string, want int) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for lines(path) < want {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("got %d answers, want %d", lines(path), want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
