package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

// Turns end in every way, the program is stopped and started again and again, and each
// run is in its log once.
func TestEachRunIsRecordedOnce(t *testing.T) {
	store, turns := newTurns(t)
	path := filepath.Join(t.TempDir(), "runs")
	ends := []turn.Finished{
		{Outcome: turn.Success, Diagnostic: "stop_reason end_turn"},
		{Outcome: turn.Failure, Code: "whatever_a_provider_says"},
		{Outcome: turn.Cancelled},
		{Outcome: turn.Interrupted, Code: turn.CodeRuntimeRestart},
	}
	want := 0
	for i, end := range ends {
		open, err := turns.Start(t.Context(), turn.Started{MID: "m" + string(rune('1'+i))})
		must(t, err)
		emit(t, open, turn.Text{Text: "working, "}, turn.Thought{Text: "a thought"}, turn.Tool{ID: "1", Title: "a tool", Status: turn.ToolDone})
		want++
		follow(t, store, path, want) // and stop in the middle of the turn
		emit(t, open, turn.Text{Text: "with api_key=sk-123 done"}, turn.ResultObserved{Text: "a result"})
		_, err = open.Finish(t.Context(), turn.Native{}, end)
		must(t, err)
		want++
		follow(t, store, path, want)
		tear(t, path)
	}
	follow(t, store, path, want)
	got := entries(t, path)
	for i, e := range got {
		task, what := "m"+string(rune('1'+i/2)), []string{"started", []string{"completed", "failed", "cancelled", "lost"}[i/2]}[i%2]
		if e.Number != uint64(i+1) || e.Task != task || e.What != what {
			t.Errorf("got %+v as entry %d, want %s of %s", e, i+1, what, task)
		}
		if i%2 == 1 && e.Output != "working, with api_key=[redacted] done" {
			t.Errorf("got the output %q", e.Output)
		}
	}
	content, err := os.ReadFile(path)
	must(t, err)
	for _, private := range []string{"sk-123", "thought", "tool", "result", "end_turn", "provider"} {
		if strings.Contains(string(content), private) {
			t.Errorf("the log holds %q: %s", private, content)
		}
	}
}

// What comes again changes nothing, wherever the replay starts.
func TestReplayedTurnChangesNothing(t *testing.T) {
	store, turns := newTurns(t)
	open, err := turns.Start(t.Context(), turn.Started{MID: "m1"})
	must(t, err)
	_, err = open.Finish(t.Context(), turn.Native{}, turn.Finished{Outcome: turn.Success})
	must(t, err)
	path := filepath.Join(t.TempDir(), "runs")
	follow(t, store, path, 2)
	r, err := openRuns(path)
	must(t, err)
	defer r.close()
	from, err := turns.Log().Start(t.Context())
	must(t, err)
	for e, err := range turns.Log().History(t.Context(), from) {
		must(t, err)
		must(t, r.take(e))
	}
	if got := entries(t, path); len(got) != 2 {
		t.Errorf("got %+v, want two entries", got)
	}
	for e, err := range r.replay(1) {
		must(t, err)
		if e.Number != 2 || e.What != "completed" {
			t.Errorf("replayed behind 1: got %+v", e)
		}
	}
}

func newTurns(t *testing.T) (store string, w *turn.Writer) {
	t.Helper()
	store = t.TempDir()
	opened, err := session.OpenStore(store, session.Options{})
	must(t, err)
	s, err := opened.Create(t.Context(), session.New{ID: "worker-1"})
	must(t, err)
	t.Cleanup(func() { s.Release() })
	w, err = turn.Open(t.Context(), s.Dir(), turn.Options{})
	must(t, err)
	t.Cleanup(func() { w.Close() })
	return store, w
}

func emit(t *testing.T, open *turn.Turn, payloads ...turn.Emission) {
	t.Helper()
	for _, p := range payloads {
		_, err := open.Emit(t.Context(), turn.Native{Provider: "acp"}, p)
		must(t, err)
	}
}

// follow runs the program until its log has so many entries.
func follow(t *testing.T, store, path string, want int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- run(ctx, store, path, 0, []string{"worker-1"}) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for len(entries(t, path)) < want {
		select {
		case <-tick.C:
		case err := <-done:
			t.Fatal(err)
		case <-late:
			t.Fatalf("got %+v, want %d entries", entries(t, path), want)
		}
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

// tear leaves half a line at the end, as a crash does.
func tear(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	_, err = f.WriteString(`{"number":99,"what":"fin`)
	must(t, errors.Join(err, f.Close()))
}

func entries(t *testing.T, path string) (all []entry) {
	t.Helper()
	whole := filepath.Join(t.TempDir(), "copy")
	must(t, os.WriteFile(whole, contentOf(t, path), 0o600))
	r, err := openRuns(whole) // removes what is torn
	must(t, err)
	defer r.close()
	for e, err := range r.replay(0) {
		must(t, err)
		all = append(all, e)
	}
	return all
}

// contentOf is what the file held at one moment. One reading may begin with a torn line
// and go on with the line that the program writes in its place, so two must agree.
func contentOf(t *testing.T, path string) []byte {
	t.Helper()
	for before := []byte(nil); ; {
		content, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		must(t, err)
		if before != nil && bytes.Equal(before, content) {
			return content
		}
		before = content
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
