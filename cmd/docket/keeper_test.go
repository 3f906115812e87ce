package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A canceller ends what writes to it once it has written a text.
type canceller struct {
	cancel func()
	text   string
	lines  int
}

func (c *canceller) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte("\n"))
	if bytes.Contains(p, []byte(c.text)) {
		c.cancel()
	}
	return len(p), nil
}

// A follower with --as saves its place in groups: a save costs much more than an event.
func TestPlaceIsSavedInGroups(t *testing.T) {
	const events = 4000
	store, err := session.OpenStore(t.TempDir(), session.Options{Timeline: timeline.Options{Buffered: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"lead", "team-1"} {
		s, err := store.Create(t.Context(), session.New{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Release()
		for i := 0; id == "team-1" && i < events; i += 100 {
			entries := make([]timeline.Entry, 100)
			for k := range entries {
				entries[k] = timeline.Sent{MID: fmt.Sprint(i + k), Text: "x"}
			}
			if _, err := s.Timeline().Append(t.Context(), entries...); err != nil {
				t.Fatal(err)
			}
		}
	}
	saves := 0
	defer step.Hook(func(name string) {
		if strings.HasPrefix(name, "session: fleet.cursor replaced") {
			saves++
		}
	})()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &canceller{cancel: cancel, text: "position"}
	begun := time.Now()
	args := []string{"follow", "team-*", "--as", "lead", "--json", "--store", store.Dir()}
	if status := run(ctx, ctx, args, strings.NewReader(""), out, io.Discard); status != statusDone {
		t.Errorf("got status %d", status)
	}
	if out.lines < events {
		t.Errorf("got %d lines of %d events", out.lines, events)
	}
	// One for each group, those at the mark and at the end, and those that time called for.
	most := events/keptUpdates + 2 + int(time.Since(begun)/keptDelay)
	if saves == 0 || saves > most {
		t.Errorf("got %d saves of %d events, want at most %d", saves, events, most)
	}
}
