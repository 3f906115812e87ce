package codex_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/fakemodel"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
)

// realPatience bounds what the real program may take on a busy machine.
const realPatience = 3 * time.Minute

// A real is codex in a home of its own, for one docket session.
type real struct {
	t     *testing.T
	home  *realagent.Home
	model *fakemodel.Server
	seat  *host.Seat
}

func newReal(t *testing.T) *real {
	if testing.Short() {
		t.Skip("a real program takes its time: run without -short")
	}
	model, err := fakemodel.Start(fakemodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	r := &real{t: t, home: realagent.New(t, realagent.Codex, model.URL()), model: model}
	r.seat = &host.Seat{Session: adapter.Session{ID: "s1", Dir: t.TempDir()}}
	return r
}

// config replaces a part of codex's configuration.
func (r *real) config(old, new string) {
	r.t.Helper()
	path := filepath.Join(r.home.Dir, ".codex", "config.toml")
	text, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Replace(string(text), old, new, 1)), 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *real) process() host.ProcessOptions {
	return host.ProcessOptions{Args: []string{r.home.Path, "app-server"}, Dir: r.home.Work, Env: r.home.Env, Grace: 2 * time.Second}
}

// start starts the program, as a host does.
func (r *real) start() *codex.Agent {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), realPatience)
	defer cancel()
	a, err := codex.Starter(r.process(), codex.Options{})(ctx, r.seat)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { a.Close() })
	return a.(*codex.Agent)
}

// prompt hands over a text, whose mid is its number, and waits for the end of its turn.
func (r *real) prompt(a *codex.Agent, mid, text string, meanwhile func(s *hosttest.Sink)) (*hosttest.Sink, host.Finished) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), realPatience)
	defer cancel()
	s := hosttest.NewSink()
	if err := a.Submit(ctx, adapter.Prompt{MID: mid, Text: text}, s); err != nil {
		r.t.Fatalf("%q: %v", text, err)
	}
	if meanwhile != nil {
		meanwhile(s)
	}
	select {
	case <-s.Done():
	case <-ctx.Done():
		r.t.Fatalf("%q: got %q and no end, want one", text, s.All())
	}
	return s, s.End(r.t)
}

func (r *real) look(a *codex.Agent, mid string, want adapter.Presence) {
	r.t.Helper()
	if got, err := a.Lookup(r.t.Context(), mid); got != want || err != nil {
		r.t.Errorf("Lookup(%q): got %v, %v, want %v", mid, got, err, want)
	}
}

// asked waits until the model was asked for a text.
func (r *real) asked(text string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), realPatience)
	defer cancel()
	err := r.model.Await(ctx, func(all []fakemodel.Request) bool {
		return len(all) > 0 && strings.Contains(all[len(all)-1].Text, text)
	})
	if err != nil {
		r.t.Error(err)
	}
}

// TestRealTurns runs whole turns: an answer, failures, an interrupt, and what is known
// after the program was started again.
func TestRealTurns(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	a := r.start()
	r.look(a, "m1", adapter.Absent)
	text := "say \"hello\" <&> \u2028 to\n\tcodex"
	s, end := r.prompt(a, "m1", text, nil)
	if end.Outcome != host.Success || !strings.Contains(strings.Join(s.All(), ""), "text ACK "+text) {
		t.Errorf("got %+v after %q, want success with the model's answer", end, s.All())
	}
	if turns := r.model.Turns(); len(turns) != 1 || turns[0] != text {
		t.Errorf("model: got %q, want the text byte for byte", turns)
	}
	for _, status := range []int{500, 401} {
		s, end := r.prompt(a, fmt.Sprint("m", status), fmt.Sprintf("[[status %d]]", status), nil)
		all := strings.Join(s.All(), "")
		if end.Outcome != host.Failure || end.Code == "" || strings.Contains(all+end.Diagnostic, "127.0.0.1") || !strings.Contains(all, codex.CodeRetry) {
			t.Errorf("%d: got %+v after %q, want an error without addresses, after a retry", status, end, s.All())
		}
	}
	_, end = r.prompt(a, "m2", "[[wait never]] stop me", func(*hosttest.Sink) {
		r.asked("stop me")
		if err := a.Interrupt(t.Context()); err != nil {
			t.Error(err)
		}
	})
	if end.Outcome != host.Cancelled {
		t.Errorf("got %+v, want cancelled", end)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	r.again()
}

// again starts the program a second time.
func (r *real) again() {
	r.t.Helper()
	a := r.start()
	for _, mid := range []string{"m1", "m2", "m500", "m401"} {
		r.look(a, mid, adapter.Present)
	}
	r.look(a, "m3", adapter.Absent)
	before := len(r.model.Requests())
	s, end := r.prompt(a, "m2", "stop me once more", nil)
	if all := s.All(); end.Code != codex.CodeRepeated || end.Outcome != host.Interrupted || len(all) != 0 || len(r.model.Requests()) != before {
		r.t.Errorf("a repeat: got %+v after %q, want that it was not sent again", end, all)
	}
	s, end = r.prompt(a, "m3", "and now", nil)
	all := strings.Join(s.All(), "")
	if end.Outcome != host.Success || !strings.Contains(all, "ACK and now") || strings.Contains(all, "hello") {
		r.t.Errorf("got %+v after %q, want success with this turn alone", end, s.All())
	}
	for _, q := range r.model.Requests() {
		if q.Text == "and now" && !strings.Contains(strings.Join(q.Users, "\n"), "hello") {
			r.t.Errorf("model: got %q, want the earlier turns, too", q.Users)
		}
	}
}

// TestRealPermissions has a command rejected and then allowed, and a turn interrupted
// while it waits. What the command is stays secret.
func TestRealPermissions(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	r.config(`approval_policy = "never"`, `approval_policy = "on-request"`)
	r.config(`sandbox_mode = "danger-full-access"`, `sandbox_mode = "read-only"`)
	a := r.start()
	for _, tt := range []struct {
		choice  string // "" interrupts
		made    bool
		outcome host.Outcome
	}{{"decline", false, host.Success}, {"accept", true, host.Success}, {"", false, host.Cancelled}} {
		name := "PLANTED-" + tt.choice
		text := `[[tool exec_command {"cmd":"touch ` + name + `","sandbox_permissions":"require_escalated","justification":"PLANTED"}]]`
		s, end := r.prompt(a, "m"+tt.choice, text, func(s *hosttest.Sink) {
			p := s.Permission(t, 1)
			if tt.choice == "" {
				if err := a.Interrupt(t.Context()); err != nil {
					t.Error(err)
				}
			} else if err := a.Decide(t.Context(), p.ID, tt.choice); err != nil {
				t.Error(err)
			}
		})
		_, err := os.Stat(filepath.Join(r.home.Work, name))
		if made := err == nil; made != tt.made || end.Outcome != tt.outcome {
			t.Errorf("%q: got the file %v and %+v, want %v and %s", tt.choice, made, end, tt.made, tt.outcome)
		}
		all := strings.Join(s.All(), "\n")
		if !strings.Contains(all, `permission "touch" asked`) || !strings.Contains(all, `"touch" execute`) {
			t.Errorf("%q: got\n%s\nwant the permission and the command by the name of the program", tt.choice, all)
		}
		for line := range strings.Lines(all) {
			if strings.Contains(line, "PLANTED") && !strings.HasPrefix(line, "text ACK") { // the model repeats the prompt
				t.Errorf("got %q, want nothing of the command", line)
			}
		}
	}
}

// TestRealOtherWriter waits for a thread that another process has, and does not take
// another instead.
func TestRealOtherWriter(t *testing.T) {
	t.Parallel()
	r := newReal(t)
	a := r.start()
	r.prompt(a, "m1", "one", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := codex.Starter(r.process(), codex.Options{})(ctx, r.seat); !errors.Is(err, codex.ErrWriter) {
		t.Errorf("got %v, want ErrWriter", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	b := r.start()
	r.look(b, "m1", adapter.Present)
	r.look(b, "m2", adapter.Absent)
}
