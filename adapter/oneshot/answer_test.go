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

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
)

// TestAnswersWithoutABegin runs programs that never begin with the prompt.
func TestAnswersWithoutABegin(t *testing.T) {
	for _, tt := range []struct {
		name   string
		preset oneshot.Preset
		script []string
		want   adapter.Answer
		says   string
	}{
		{"says nothing", oneshot.Codex, []string{"read", "exit 1"}, adapter.Refused, "exit status 1"},
		{"does not read", oneshot.Codex, []string{"exit 1"}, adapter.Refused, "exit status 1"},
		{"closes its input", oneshot.Codex, []string{"close", "await never"}, adapter.Refused, "does not read"},
		{"says why", oneshot.Codex, []string{"read", threadStarted, `{"type":"error","message":"log in first"}`, "exit 1"}, adapter.Refused, "log in first"},
		{"is killed before", oneshot.Codex, []string{"read", threadStarted, "kill"}, adapter.Refused, "killed"},
		{"prints no event", oneshot.Gemini, []string{"read", "Hello, this is", "{broken", "[]", "exit 0"}, adapter.Refused, "exit status 0"},
		{"could have begun", oneshot.OpenCode, []string{"read", "exit 1"}, adapter.Unconfirmed, "exit status 1"},
		{"did not have it all", oneshot.OpenCode, []string{"exit 1"}, adapter.Refused, "exit status 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.script(tt.script...)
			a := f.open(tt.preset, oneshot.Options{Settle: hosttest.Patience})
			s, err := submit(t, a, strings.Repeat("long ", 100_000))
			if adapter.AnswerOf(err) != tt.want || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v (%s), want %s with %q", err, adapter.AnswerOf(err), tt.want, tt.says)
			}
			if all := all(s); len(all) != 0 || len(s.Ends()) != 0 {
				t.Errorf("got %q and %v, want nothing of a turn that is over", all, s.Ends())
			}
			f.script("read", turnStarted, `{"type":"message","role":"user"}`, `{"type":"step_start"}`)
			if _, err := submit(t, a, "next"); err != nil {
				t.Errorf("next: %v", err)
			}
		})
	}
}

// TestTimeIsOver ends the process of a prompt that nobody waits for any more.
func TestTimeIsOver(t *testing.T) {
	for _, tt := range []struct {
		name   string
		preset oneshot.Preset
		script []string
		want   adapter.Answer
	}{
		{"before it began", oneshot.Codex, []string{"read", "touch here", "await never"}, adapter.Refused},
		{"begun, but not read", oneshot.Codex, []string{turnStarted, "touch here", "await never"}, adapter.Unconfirmed},
		{"all read, nothing known", oneshot.OpenCode, []string{"read", "touch here", "await never"}, adapter.Unconfirmed},
		{"not read", oneshot.OpenCode, []string{"touch here", "await never"}, adapter.Refused},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.script(tt.script...)
			a := f.open(tt.preset, oneshot.Options{Settle: hosttest.Patience})
			ctx, cancel := context.WithCancel(context.Background())
			go func() { f.await("here"); cancel() }()
			s := hosttest.NewSink()
			err := a.Submit(ctx, adapter.Prompt{MID: "m", Text: strings.Repeat("long ", 100_000)}, s)
			if adapter.AnswerOf(err) != tt.want || !errors.Is(err, context.Canceled) {
				t.Errorf("got %v (%s), want %s", err, adapter.AnswerOf(err), tt.want)
			}
			if len(all(s))+len(s.Ends()) != 0 {
				t.Errorf("got %q and %v, want nothing", all(s), s.Ends())
			}
			if err := a.Submit(ctx, adapter.Prompt{MID: "m", Text: "x"}, s); adapter.AnswerOf(err) != adapter.Refused {
				t.Errorf("with a context that is over: got %v, want a refusal", err)
			}
		})
	}
}

// TestSettle takes a program that prints nothing as having the prompt only once it has
// read all of it.
func TestSettle(t *testing.T) {
	f := newFake(t)
	f.script("touch here", "await read", "read", "await go",
		`{"type":"step_start","sessionID":"ses_1","part":{"id":"p"}}`, `{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop"}}`)
	a := f.open(oneshot.OpenCode, oneshot.Options{Settle: -1})
	answer, s := make(chan error, 1), hosttest.NewSink()
	go func() { answer <- a.Submit(context.Background(), adapter.Prompt{MID: "m", Text: "short"}, s) }()
	f.await("here")
	if oneshot.UnreadKnown() { // the pipe has it all, the program nothing
		select {
		case err := <-answer:
			t.Errorf("got %v before the program has read, want no answer", err)
		default:
		}
	}
	f.touch("read")
	if err := hosttest.Receive(t, "an answer", answer); err != nil {
		t.Fatal(err)
	}
	f.touch("go")
	if end := s.End(t); end.Outcome != host.Success {
		t.Errorf("got %+v, want success", end)
	}
}

// TestContextLost has programs that cannot go on with their conversation: a new one
// begins, and the turn says so.
func TestContextLost(t *testing.T) {
	const gone = `exit 1`
	for _, tt := range []struct {
		preset   oneshot.Preset
		complete []string
		answers  []adapter.Answer // to the prompts after the first, until one is taken
	}{
		{oneshot.Codex, []string{"read", `{"type":"thread.started","thread_id":"new"}`, turnStarted, turnCompleted}, []adapter.Answer{adapter.Taken}},
		{oneshot.OpenCode, []string{"read", `{"type":"step_finish","sessionID":"new","part":{"reason":"stop"}}`},
			[]adapter.Answer{adapter.Unconfirmed, adapter.Taken}}, // it may have begun: nobody may try again by himself
	} {
		t.Run(tt.preset.Name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			seat := &host.Seat{Session: adapter.Session{ID: "s1", Dir: t.TempDir()}}
			a := f.openIn(seat, tt.preset, oneshot.Options{Settle: hosttest.Patience})
			store := oneshot.FileStore{Dir: seat.Session.Dir, Preset: tt.preset.Name}
			work, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			if err := store.Save(work, "old"); err != nil {
				t.Fatal(err)
			}
			f.script("read", gone)
			f.script(tt.complete...)
			for i, want := range tt.answers {
				s, err := submit(t, a, "go")
				if adapter.AnswerOf(err) != want {
					t.Fatalf("prompt %d: got %v, want %s", i, err, want)
				}
				if want != adapter.Taken {
					continue
				}
				if end := s.End(t); end.Outcome != host.Success || !strings.Contains(strings.Join(all(s), ""), oneshot.CodeContextLost) {
					t.Errorf("got %q and %+v, want success and that the context is lost", all(s), end)
				}
			}
			if !slices.Contains(f.args(1), "old") || slices.Contains(f.args(2), "old") {
				t.Errorf("got %q and %q, want the old conversation tried once", f.args(1), f.args(2))
			}
			if id, err := store.Load(work); id != "new" || err != nil {
				t.Errorf("stored: got %q, %v, want the new one", id, err)
			}
		})
	}
}

// TestConversationIsKept keeps the conversation when no program starts at all.
func TestConversationIsKept(t *testing.T) {
	f := newFake(t)
	store := oneshot.FileStore{Dir: t.TempDir(), Preset: "codex"}
	work, _ := os.Getwd()
	if err := store.Save(work, "old"); err != nil {
		t.Fatal(err)
	}
	a := f.open(oneshot.Codex, oneshot.Options{Store: store})
	f.script("read", "exit 1")
	f.script("read", "exit 1")
	if _, err := submit(t, a, "go"); adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("got %v, want a refusal", err)
	}
	f.script("read", threadStarted, turnStarted, turnCompleted)
	if _, end := turn(t, a, "go"); end.Outcome != host.Success || !slices.Contains(f.args(3), "old") {
		t.Errorf("got %+v with %q, want the conversation of before", end, f.args(3))
	}
}

// TestStoreThatFails refuses before anything runs, or says that the id is not kept.
func TestStoreThatFails(t *testing.T) {
	f := newFake(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "oneshot-session.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := f.open(oneshot.Codex, oneshot.Options{Store: oneshot.FileStore{Dir: dir, Preset: "codex"}})
	if _, err := submit(t, a, "go"); !errors.Is(err, oneshot.ErrStore) || adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("got %v, want a refusal with ErrStore", err)
	}
	f.script("read", threadStarted, turnStarted, turnCompleted)
	a = f.open(oneshot.Codex, oneshot.Options{Store: fullStore{}})
	s, end := turn(t, a, "go")
	if end.Outcome != host.Success || !strings.Contains(strings.Join(all(s), ""), oneshot.CodeContextUnsaved) {
		t.Errorf("got %q and %+v, want success and that the id is not kept", all(s), end)
	}
}

type fullStore struct{}

func (fullStore) Load(string) (string, error) { return "", nil }
func (fullStore) Save(string, string) error   { return errors.New("no space left") }

// TestSubmitRefusesBrokenText starts nothing for a text that programs would change.
func TestSubmitRefusesBrokenText(t *testing.T) {
	f := newFake(t)
	if _, err := submit(t, f.open(oneshot.Codex, oneshot.Options{}), "a\xffb"); adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("got %v, want a refusal", err)
	}
}

// TestInterruptWhileSubmitting stops a program that has not begun.
func TestInterruptWhileSubmitting(t *testing.T) {
	f := newFake(t)
	f.script("touch here", "await never")
	a := f.open(oneshot.Codex, oneshot.Options{})
	answer := make(chan error, 1)
	go func() {
		_, err := submit(t, a, "go")
		answer <- err
	}()
	f.await("here")
	if err := a.Interrupt(context.Background()); err != nil {
		t.Error(err)
	}
	if err := hosttest.Receive(t, "an answer", answer); adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("got %v, want a refusal", err)
	}
	f.script("read", turnStarted, turnCompleted)
	if _, end := turn(t, a, "next"); end.Outcome != host.Success {
		t.Errorf("got %+v, want success", end)
	}
}

// TestDoubts has programs that take a prompt and die without a sign: the first may have
// died of anything, after the second the conversation counts as lost.
func TestDoubts(t *testing.T) {
	f := newFake(t)
	store := oneshot.FileStore{Dir: t.TempDir(), Preset: "opencode"}
	work, _ := os.Getwd()
	if err := store.Save(work, "old"); err != nil {
		t.Fatal(err)
	}
	a := f.open(oneshot.OpenCode, oneshot.Options{Store: store, Settle: -1})
	for i := range 3 {
		await := fmt.Sprintf("go-%d", i)
		f.script("read", "await "+await, "kill")
		s, err := submit(t, a, "go")
		if err != nil {
			t.Fatal(err)
		}
		f.touch(await)
		if end := s.End(t); end.Outcome != host.Interrupted {
			t.Errorf("process %d: got %+v, want interrupted", i+1, end)
		}
		if resumes := slices.Contains(f.args(i+1), "old"); resumes != (i < 2) {
			t.Errorf("process %d: got arguments %q", i+1, f.args(i+1))
		}
	}
}
