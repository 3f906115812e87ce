package oneshot_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
)

// Lines of Codex, which most tests of processes speak.
const (
	threadStarted = `{"type":"thread.started","thread_id":"th-1"}`
	turnStarted   = `{"type":"turn.started"}`
	turnCompleted = `{"type":"turn.completed","usage":{"input_tokens":11,"output_tokens":5}}`
	turnFailed    = `{"type":"turn.failed","error":{"message":"no model"}}`
)

func said(text string) string {
	return fmt.Sprintf(`{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":%q}}`, text)
}

var hostile = "say \"hello\" <&> \u2028 \\ to\n$HOME `x` 'y' {id} %s\n--version\n\u0001\u001b[201~ \U0001F600 "

// TestOneProcessAPrompt runs two turns: the text arrives byte for byte, and the second
// process goes on with the conversation of the first, also with a new agent.
func TestOneProcessAPrompt(t *testing.T) {
	f := newFake(t)
	var states []host.State
	seat := &host.Seat{Session: adapter.Session{ID: "s1", Dir: t.TempDir()}, OnState: func(s host.State) { states = append(states, s) }}
	texts := []string{hostile, strings.Repeat("x", 300_000), "third"}
	for i, text := range texts {
		f.script("read", threadStarted, turnStarted, said("done"), turnCompleted)
		a := f.openIn(seat, oneshot.Codex, oneshot.Options{})
		s, end := turn(t, a, text)
		if got := all(s); end != (host.Finished{Outcome: host.Success}) || !slices.Contains(got, "text done") {
			t.Errorf("got %q and %+v, want the text and success", got, end)
		}
		if got := f.await(fmt.Sprintf("prompt-%d", i+1)); got != text {
			t.Errorf("program: got %.80q, want %.80q", got, text)
		}
		want := []string{"resume", "th-1", "-"}
		if i == 0 {
			want = []string{"-"}
		}
		if got := f.args(i + 1); !slices.Equal(got, want) {
			t.Errorf("process %d: got arguments %q, want %q", i+1, got, want)
		}
		if n := s.Natives()[0]; n != (host.Native{Provider: "codex", Session: "th-1", Item: "item_1"}) {
			t.Errorf("got %+v, want where it came from", n)
		}
	}
	if len(states) == 0 || states[0] != (host.State{Name: oneshot.StateSession, Value: "th-1"}) {
		t.Errorf("got states %v, want the conversation", states)
	}
}

// TestSubmitDoesNotWaitForTheTurn also proves that a second prompt is refused meanwhile.
func TestSubmitDoesNotWaitForTheTurn(t *testing.T) {
	f := newFake(t)
	f.script("read", turnStarted, "await go", turnCompleted)
	a := f.open(oneshot.Codex, oneshot.Options{})
	s, err := submit(t, a, "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := submit(t, a, "two"); !errors.Is(err, adapter.ErrBusy) {
		t.Errorf("second prompt: got %v, want ErrBusy", err)
	}
	f.touch("go")
	if end := s.End(t); end.Outcome != host.Success {
		t.Errorf("got %+v, want success", end)
	}
}

// TestEnds judges turns by their events alone.
func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		name   string
		script []string
		want   host.Finished // a Diagnostic of "*" is any
	}{
		{"success although the program fails", []string{"read", turnStarted, turnCompleted, "exit 3"}, host.Finished{Outcome: host.Success}},
		{"failure although the program does not", []string{"read", turnStarted, turnFailed, "exit 0"},
			host.Finished{Outcome: host.Failure, Code: oneshot.CodeAgentError, Diagnostic: "no model"}},
		{"no end", []string{"read", turnStarted, said("half"), "exit 0"}, host.Finished{Outcome: host.Interrupted, Code: host.CodeAgentExited, Diagnostic: "*"}},
		{"killed", []string{"read", turnStarted, said("half"), "kill"}, host.Finished{Outcome: host.Interrupted, Code: host.CodeAgentExited, Diagnostic: "*"}},
		{"the first of two ends", []string{"read", turnStarted, turnFailed, turnCompleted, said("late")},
			host.Finished{Outcome: host.Failure, Code: oneshot.CodeAgentError, Diagnostic: "no model"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.script(tt.script...)
			s, end := turn(t, f.open(oneshot.Codex, oneshot.Options{}), "go")
			if tt.want.Diagnostic == "*" && end.Diagnostic != "" {
				end.Diagnostic = "*"
			}
			if end != tt.want {
				t.Errorf("got %+v, want %+v", end, tt.want)
			}
			if slices.Contains(all(s), "text late") {
				t.Errorf("got %q, want nothing after the end", all(s))
			}
		})
	}
}

// TestProcessIsGoneAtTheEnd has a program that does not end after its turn, and a child
// of it.
func TestProcessIsGoneAtTheEnd(t *testing.T) {
	f, child := newFake(t), newFake(t)
	child.script("deaf", "await never")
	f.script("read", turnStarted, "child "+child.dir, turnCompleted, "await never")
	_, end := turn(t, f.open(oneshot.Codex, oneshot.Options{ExitGrace: time.Millisecond}), "go")
	if end.Outcome != host.Success {
		t.Errorf("got %+v, want success", end)
	}
}

// TestOutputThatIsHeldOpen has something outside the program's group that keeps its
// output.
func TestOutputThatIsHeldOpen(t *testing.T) {
	f, escapee := newFake(t), newFake(t)
	escapee.script("touch here", "await end")
	f.script("read", turnStarted, "escapee "+escapee.dir, "await go", turnCompleted)
	s, err := submit(t, f.open(oneshot.Codex, oneshot.Options{}), "go")
	if err != nil {
		t.Fatal(err)
	}
	escapee.await("here")
	f.touch("go")
	if end := s.End(t); end.Outcome != host.Success {
		t.Errorf("got %+v, want success", end)
	}
	escapee.touch("end")
}

// TestUsageOfAConversation has Codex count from the beginning of the conversation: of
// each turn only its own part is told, and nothing where that is not known.
func TestUsageOfAConversation(t *testing.T) {
	f := newFake(t)
	a := f.open(oneshot.Codex, oneshot.Options{})
	completed := func(input int) string {
		return fmt.Sprintf(`{"type":"turn.completed","usage":{"input_tokens":%d,"output_tokens":5}}`, input)
	}
	for i, tt := range []struct{ end, want string }{
		{completed(10), "usage 10/0 5/0 15"},
		{completed(25), "usage 15/0 0/0 15"},
		{turnFailed, ""},
		{completed(70), ""}, // the turn before did not tell
		{completed(75), "usage 5/0 0/0 5"},
		{completed(7), ""}, // less than before
	} {
		f.script("read", threadStarted, turnStarted, tt.end)
		s, _ := turn(t, a, "go")
		if got := strings.Join(all(s), ""); got != tt.want {
			t.Errorf("turn %d: got %q, want %q", i+1, got, tt.want)
		}
	}
}

// TestInterrupt stops programs that obey and that do not.
func TestInterrupt(t *testing.T) {
	for _, tt := range []struct {
		name string
		more string
		want host.Outcome
	}{
		{"obeys", "await never", host.Cancelled},
		{"deaf", "deaf\ntouch deaf\nawait never", host.Cancelled},
		{"at its end already", turnCompleted + "\ntouch deaf\nawait never", host.Success},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.script("read", turnStarted, tt.more)
			a := f.open(oneshot.Codex, oneshot.Options{})
			if err := a.Interrupt(context.Background()); err != nil {
				t.Errorf("without a turn: %v", err)
			}
			s, err := submit(t, a, "go")
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(tt.more, "deaf") {
				f.await("deaf")
			}
			if err := a.Interrupt(context.Background()); err != nil {
				t.Error(err)
			}
			if end := s.End(t); end.Outcome != tt.want || end.Code != "" {
				t.Errorf("got %+v, want %s", end, tt.want)
			}
			f.script("read", turnStarted, turnCompleted)
			if _, end := turn(t, a, "next"); end.Outcome != host.Success {
				t.Errorf("next: got %+v, want success", end)
			}
		})
	}
}

// TestClose ends a turn with its process.
func TestClose(t *testing.T) {
	f := newFake(t)
	f.script("read", turnStarted, "await never")
	a := f.open(oneshot.Codex, oneshot.Options{})
	s, err := submit(t, a, "go")
	if err != nil {
		t.Fatal(err)
	}
	if a.Err() != nil {
		t.Errorf("at work: got %v, want no error", a.Err())
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	hosttest.Receive(t, "Done", a.Done())
	if end := s.End(t); end.Outcome != host.Interrupted || a.Err() == nil {
		t.Errorf("got %+v and %v, want interrupted and why", end, a.Err())
	}
	if _, err := submit(t, a, "more"); !errors.Is(err, adapter.ErrGone) {
		t.Errorf("after it: got %v, want ErrGone", err)
	}
}

// TestCloseWhileSubmitting closes while no answer is known yet.
func TestCloseWhileSubmitting(t *testing.T) {
	f := newFake(t)
	f.script("touch here", "await never")
	a := f.open(oneshot.Codex, oneshot.Options{})
	answer := make(chan error, 1)
	go func() {
		_, err := submit(t, a, "go")
		answer <- err
	}()
	f.await("here")
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := hosttest.Receive(t, "an answer", answer); adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	start := oneshot.Starter(oneshot.Codex, host.ProcessOptions{Args: []string{filepath.Join(t.TempDir(), "codex")}}, oneshot.Options{})
	if _, err := start(context.Background(), &host.Seat{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that it is not there", err)
	}
	path := filepath.Join(t.TempDir(), "codex")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	a, err := oneshot.Starter(oneshot.Codex, host.ProcessOptions{Args: []string{path}}, oneshot.Options{})(context.Background(), &host.Seat{})
	if err != nil {
		t.Skip("no program of this kind here:", err)
	}
	defer a.Close()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := submit(t, a, "go"); !errors.Is(err, adapter.ErrGone) {
		t.Errorf("gone: got %v, want ErrGone", err)
	}
}

func TestFind(t *testing.T) {
	for _, p := range oneshot.Presets() {
		if got, err := oneshot.Find(p.Name); err != nil || got.Name != p.Name || p.Doc == "" || len(p.Command) < 2 {
			t.Errorf("%s: got %+v, %v", p.Name, got, err)
		}
	}
	if _, err := oneshot.Find("cursor"); !errors.Is(err, oneshot.ErrPreset) || !strings.Contains(err.Error(), "codex") {
		t.Errorf("got %v, want ErrPreset with the names", err)
	}
}
