package acp_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest/fakemodel"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
	"github.com/docket-go/docket/adapter/host"
)

// realPatience bounds what a real program may take on a busy machine.
const realPatience = 3 * time.Minute

// A real is a program in a home of its own, for one docket session.
type real struct {
	t     *testing.T
	home  *realagent.Home
	model *fakemodel.Server
	seat  *host.Seat
}

func newReal(t *testing.T, p realagent.Program) *real {
	if testing.Short() {
		t.Skip("a real program takes its time: run without -short")
	}
	model, err := fakemodel.Start(fakemodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	r := &real{t: t, home: realagent.New(t, p, model.URL()), model: model}
	r.seat = &host.Seat{Session: adapter.Session{ID: "s1", Dir: t.TempDir()}}
	return r
}

// start starts the program, as a host does.
func (r *real) start() host.Agent {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), realPatience)
	defer cancel()
	start := acp.Starter(host.ProcessOptions{
		Args: append([]string{r.home.Path}, r.home.Program.ACP...), Dir: r.home.Work, Env: r.home.Env, Grace: 2 * time.Second,
	}, acp.Options{})
	a, err := start(ctx, r.seat)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { a.Close() })
	return a
}

// prompt hands over a text and waits for the end of its turn.
func (r *real) prompt(a host.Agent, text string, meanwhile func(s *hosttest.Sink)) (*hosttest.Sink, host.Finished) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), realPatience)
	defer cancel()
	s := hosttest.NewSink()
	if err := a.Submit(ctx, adapter.Prompt{MID: "m", Text: text}, s); err != nil {
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

// TestPrograms runs whole turns of real programs: their answers, a command that needs
// permission, an interrupt, the end of the program and the session after it.
func TestPrograms(t *testing.T) {
	for _, tt := range []struct {
		program realagent.Program
		tool    string // that writes a file, with a place for a command
		extra   func(h *realagent.Home)
	}{
		{realagent.Gemini, `[[tool run_shell_command {"command":"touch %s","description":"d"}]]`, nil},
		{realagent.OpenCode, `[[tool bash {"command":"touch %s","description":"d"}]]`, askForBash},
		{realagent.CodexACP, "", nil},
	} {
		t.Run(tt.program.Name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t, tt.program)
			if tt.extra != nil {
				tt.extra(r.home)
			}
			a := r.start()
			text := "say \"hello\" <&> \u2028 to\n" + tt.program.Name
			s, end := r.prompt(a, text, nil)
			if end.Outcome != host.Success || !strings.Contains(strings.Join(s.All(), ""), "ACK "+text) {
				t.Errorf("got %+v after %q, want success with the model's answer", end, s.All())
			}
			if turns := r.model.Turns(); len(turns) != 1 || turns[0] != text {
				t.Errorf("model: got %q, want the text byte for byte", turns)
			}
			if tt.tool != "" {
				r.permissions(a, tt.tool)
			}
			r.interrupt(a)
			r.again(a)
		})
	}
}

// askForBash has OpenCode ask before it runs a command.
func askForBash(h *realagent.Home) {
	path := filepath.Join(h.Dir, ".config", "opencode", "opencode.json")
	config, err := os.ReadFile(path)
	if err == nil {
		config = []byte(strings.Replace(string(config), "{", `{"permission": {"bash": "ask"},`, 1))
		err = os.WriteFile(path, config, 0o600)
	}
	if err != nil {
		panic(err)
	}
}

// permissions has a command rejected and then allowed. What it is stays secret.
func (r *real) permissions(a host.Agent, tool string) {
	r.t.Helper()
	for _, grants := range []bool{false, true} {
		name := fmt.Sprintf("PLANTED-%v", grants)
		s, _ := r.prompt(a, fmt.Sprintf(tool, name), func(s *hosttest.Sink) { r.decide(a, s, grants) })
		_, err := os.Stat(filepath.Join(r.home.Work, name))
		if made := err == nil; made != grants {
			r.t.Errorf("grants %v: got the file %v, want %v", grants, made, grants)
		}
		for _, line := range s.All() {
			if strings.Contains(line, "PLANTED") && !strings.HasPrefix(line, "text ACK") { // the model repeats the prompt
				r.t.Errorf("got %q, want nothing of the command", line)
			}
		}
	}
}

func (r *real) decide(a host.Agent, s *hosttest.Sink, grants bool) {
	r.t.Helper()
	p := s.Permission(r.t, 1)
	for _, o := range p.Options {
		if o.Grants == grants && strings.HasSuffix(o.Name, "once") {
			if err := a.(host.Decider).Decide(context.Background(), p.ID, o.ID); err != nil {
				r.t.Error(err)
			}
			return
		}
	}
	r.t.Errorf("got options %v, want one that grants %v", p.Options, grants)
}

// interrupt stops a turn inside the model's answer.
func (r *real) interrupt(a host.Agent) {
	r.t.Helper()
	_, end := r.prompt(a, "[[wait never]] stop me", func(*hosttest.Sink) {
		ctx, cancel := context.WithTimeout(context.Background(), realPatience)
		defer cancel()
		asked := func(all []fakemodel.Request) bool { return strings.Contains(all[len(all)-1].Text, "stop me") }
		if err := r.model.Await(ctx, asked); err != nil {
			r.t.Error(err)
		}
		if err := a.Interrupt(ctx); err != nil {
			r.t.Error(err)
		}
	})
	if end.Outcome != host.Cancelled {
		r.t.Errorf("got %+v, want cancelled", end)
	}
	r.model.Release("never")
}

// again ends the program and starts it again: it goes on with its session, and nothing
// of the past is emitted.
func (r *real) again(a host.Agent) {
	r.t.Helper()
	if err := a.Close(); err != nil {
		r.t.Error(err)
	}
	s, end := r.prompt(r.start(), "and now", nil)
	all := strings.Join(s.All(), "")
	if end.Outcome != host.Success || !strings.Contains(all, "ACK and now") || strings.Contains(all, "hello") {
		r.t.Errorf("got %+v after %q, want success with this turn alone", end, s.All())
	}
	requests := r.model.Requests()
	var users string
	for _, q := range requests {
		if q.Text == "and now" {
			users = strings.Join(q.Users, "\n")
		}
	}
	if !strings.Contains(users, "hello") && !strings.Contains(all, acp.CodeContextLost) {
		r.t.Errorf("model: got %q, want the earlier turns, or that they are lost", users)
	}
}

// TestExampleAgent runs the example of the Go SDK, which asks no model.
func TestExampleAgent(t *testing.T) {
	r := newReal(t, realagent.ACPExample)
	a := r.start()
	s, end := r.prompt(a, "go", func(s *hosttest.Sink) { r.decide(a, s, true) })
	if end.Outcome != host.Success {
		t.Errorf("got %+v, want success", end)
	}
	all := strings.Join(s.All(), "\n")
	for _, want := range []string{
		"text ACP Go Example Agent", `tool call_1 "Reading project files" read pending`, `tool call_1 "Reading project files" read done`,
		`permission "Modifying critical configuration file" asked`, "Perfect!",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("got\n%s\nwant %q in it", all, want)
		}
	}
	if strings.Contains(all, "database") || strings.Contains(all, "config.json") {
		t.Errorf("got\n%s\nwant nothing of inputs and outputs", all)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	select {
	case <-a.Done():
	default:
		t.Error("not done after Close, want done")
	}
}

// TestStarterOfNoAgent starts what is no agent.
func TestStarterOfNoAgent(t *testing.T) {
	for _, args := range [][]string{{"docket-test-no-such-program"}, {os.Args[0], "-test.run=^$"}} {
		ctx, cancel := context.WithTimeout(context.Background(), realPatience)
		defer cancel()
		if _, err := acp.Starter(host.ProcessOptions{Args: args}, acp.Options{})(ctx, &host.Seat{}); err == nil || !strings.Contains(err.Error(), args[0]) {
			t.Errorf("%q: got %v, want an error that names it", args, err)
		}
	}
}
