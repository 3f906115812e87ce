package oneshot_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/fakemodel"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
)

// realPatience bounds what a real program may take on a busy machine.
const realPatience = 3 * time.Minute

// A real is a program in a home of its own, for one docket session.
type real struct {
	t     *testing.T
	home  *realagent.Home
	model *fakemodel.Server
	seat  *host.Seat
	agent host.Agent
}

// reals are the programs that a test can run.
var reals = []struct {
	program realagent.Program
	preset  oneshot.Preset
	command []string // the arguments without those for the conversation
	tool    string   // a prompt that has a tool called
	fails   string   // a status that the program does not try again for a minute
}{
	{realagent.Codex, oneshot.Codex, []string{"exec", "--json", "--skip-git-repo-check"},
		`[[tool exec_command {"cmd":"echo PLANTED"}]] tool`, "[[status 500]] fails"},
	{realagent.Gemini, oneshot.Gemini, realagent.Gemini.Prompt,
		`[[tool list_directory {"dir_path":"."}]] tool`, "[[status 500]] fails"},
	{realagent.OpenCode, oneshot.OpenCode, realagent.OpenCode.Prompt,
		`[[tool bash {"command":"echo PLANTED","description":"PLANTED"}]] tool`, "[[status 400]] fails"},
	{realagent.Pi, oneshot.Pi, realagent.Pi.Prompt,
		`[[tool bash {"command":"echo PLANTED"}]] tool`, "[[status 500]] fails"},
}

// TestRealPrograms runs whole turns of real programs: an answer, a tool, a failure of
// the model, an interrupt, the death of the program, and what comes after.
func TestRealPrograms(t *testing.T) {
	t.Parallel()
	for _, tt := range reals {
		t.Run(tt.preset.Name, func(t *testing.T) {
			t.Parallel()
			r := newReal(t, tt.program, tt.preset, tt.command)
			r.answers()
			r.usesTools(tt.tool)
			r.fails(tt.fails)
			r.interrupts()
			r.dies()
			r.losesContext(tt.preset)
		})
	}
}

// TestRealCut has the model's answer cut each time that the program asks.
func TestRealCut(t *testing.T) {
	t.Parallel()
	for _, tt := range reals {
		t.Run(tt.preset.Name, func(t *testing.T) {
			t.Parallel()
			newReal(t, tt.program, tt.preset, tt.command).fails("[[cut]] cut")
		})
	}
}

func newReal(t *testing.T, p realagent.Program, preset oneshot.Preset, command []string) *real {
	if testing.Short() {
		t.Skip("a real program takes its time: run without -short")
	}
	model, err := fakemodel.Start(fakemodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	r := &real{t: t, home: realagent.New(t, p, model.URL()), model: model}
	if p.Name == realagent.Gemini.Name {
		r.tryOnce()
	}
	r.seat = &host.Seat{Session: adapter.Session{ID: "s1", Dir: t.TempDir()}}
	start := oneshot.Starter(preset, host.ProcessOptions{
		Args: append([]string{r.home.Path}, command...), Dir: r.home.Work, Env: r.home.Env, Grace: 2 * time.Second,
	}, oneshot.Options{})
	if r.agent, err = start(context.Background(), r.seat); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.agent.Close() })
	return r
}

// tryOnce has Gemini ask its model once, and not for two minutes.
func (r *real) tryOnce() {
	path := filepath.Join(r.home.Dir, ".gemini", "settings.json")
	settings, err := os.ReadFile(path)
	if err == nil {
		settings = []byte(strings.Replace(string(settings), `"general": {`, `"general": {"maxAttempts": 1, `, 1))
		err = os.WriteFile(path, settings, 0o600)
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// prompt hands over a text and waits for the end of its turn.
func (r *real) prompt(text string, meanwhile func()) (*hosttest.Sink, host.Finished) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), realPatience)
	defer cancel()
	s := hosttest.NewSink()
	if err := r.agent.Submit(ctx, adapter.Prompt{MID: "m", Text: text}, s); err != nil {
		r.t.Fatalf("%q: %v", text, err)
	}
	if meanwhile != nil {
		meanwhile()
	}
	select {
	case <-s.Done():
	case <-ctx.Done():
		r.t.Fatalf("%q: got %q and no end, want one", text, all(s))
	}
	return s, s.End(r.t)
}

// last returns the last request that began a turn.
func (r *real) last() (last fakemodel.Request) {
	for _, q := range r.model.Requests() {
		if q.Begins() {
			last = q
		}
	}
	return last
}

// answers has two prompts answered: the text arrives byte for byte, and the second in
// the conversation of the first.
func (r *real) answers() {
	r.t.Helper()
	text := "say \"hello\" <&> \u2028 \\ to\n$HOME `x` 'y' %s\n--version\n!ls @file \U0001F600 end"
	for _, said := range []string{text, "and now"} {
		s, end := r.prompt(said, nil)
		if end != (host.Finished{Outcome: host.Success}) || !strings.Contains(strings.Join(all(s), ""), "text ACK "+said) {
			r.t.Errorf("got %+v after %q, want success with the model's answer", end, all(s))
		}
		if got := r.last().Text; got != said {
			r.t.Errorf("model: got %q, want %q byte for byte", got, said)
		}
	}
	if users := r.last().Users; !slices.Contains(users, text) {
		r.t.Errorf("model: got %q, want the first prompt, too", users)
	}
	if n := len(r.model.Turns()); n != 2 {
		r.t.Errorf("model: got %d turns, want two", n)
	}
}

// usesTools has a tool called: what it gets and gives is not shown.
func (r *real) usesTools(tool string) {
	r.t.Helper()
	s, end := r.prompt(tool, nil)
	all := all(s)
	if end.Outcome != host.Success || !slices.ContainsFunc(all, func(v string) bool { return strings.HasPrefix(v, "tool ") && strings.HasSuffix(v, " done") }) {
		r.t.Errorf("got %+v after %q, want success with a tool", end, all)
	}
	for _, v := range all {
		if strings.Contains(v, "PLANTED") && !strings.HasPrefix(v, "text ACK") { // the model repeats the prompt
			r.t.Errorf("got %q, want nothing of the tool", v)
		}
	}
}

// fails has the model fail.
func (r *real) fails(text string) {
	r.t.Helper()
	s, end := r.prompt(text, nil)
	if end.Outcome != host.Failure || end.Code != oneshot.CodeAgentError || end.Diagnostic == "" {
		r.t.Errorf("%q: got %+v after %q, want an error that says something", text, end, all(s))
	}
}

// interrupts stops a turn inside the model's answer.
func (r *real) interrupts() {
	r.t.Helper()
	_, end := r.prompt("[[wait never]] stop me", func() {
		r.awaitAsked("stop me")
		if err := r.agent.Interrupt(context.Background()); err != nil {
			r.t.Error(err)
		}
	})
	if end.Outcome != host.Cancelled {
		r.t.Errorf("got %+v, want cancelled", end)
	}
}

func (r *real) awaitAsked(text string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), realPatience)
	defer cancel()
	asked := func(all []fakemodel.Request) bool {
		return slices.ContainsFunc(all, func(q fakemodel.Request) bool { return q.Begins() && strings.Contains(q.Text, text) })
	}
	if err := r.model.Await(ctx, asked); err != nil {
		r.t.Error(err)
	}
}

// dies kills the program inside a turn; the conversation goes on after it.
func (r *real) dies() {
	r.t.Helper()
	_, end := r.prompt("[[wait never]] kill me", func() {
		r.awaitAsked("kill me")
		program, err := os.FindProcess(oneshot.Pid(r.agent))
		if err == nil {
			err = program.Kill()
		}
		if err != nil {
			r.t.Error(err)
		}
	})
	if end.Outcome != host.Interrupted || end.Code != host.CodeAgentExited {
		r.t.Errorf("got %+v, want interrupted", end)
	}
	s, end := r.prompt("after it", nil)
	if end.Outcome != host.Success {
		r.t.Errorf("after it: got %+v and %q, want success", end, all(s))
	}
	if users := r.last().Users; !slices.Contains(users, "and now") {
		r.t.Errorf("model: got %q, want the conversation of before", users)
	}
}

// losesContext has the program asked for a conversation that it does not have.
func (r *real) losesContext(p oneshot.Preset) {
	r.t.Helper()
	store := oneshot.FileStore{Dir: r.seat.Session.Dir, Preset: p.Name}
	id, err := store.Load(r.home.Work)
	if err != nil || id == "" {
		r.t.Fatalf("got the conversation %q, %v, want one", id, err)
	}
	lost := "019adf00-0000-4000-8000-000000000000"
	if strings.HasPrefix(id, "ses_") {
		lost = "ses_0000000000000000000000000"
	}
	if err := store.Save(r.home.Work, lost); err != nil {
		r.t.Fatal(err)
	}
	// OpenCode prints nothing before it ends, and how soon it does is the machine's
	// affair: the prompt may be unconfirmed, or taken and interrupted, twice.
	tries := 1
	if p.Name == oneshot.OpenCode.Name {
		tries = 3
	}
	var end host.Finished
	var said []string
	for range tries {
		s := hosttest.NewSink()
		ctx, cancel := context.WithTimeout(context.Background(), realPatience)
		err = r.agent.Submit(ctx, adapter.Prompt{MID: "m", Text: "lost"}, s)
		cancel()
		if err != nil {
			continue
		}
		if end, said = s.End(r.t), all(s); end.Outcome == host.Success {
			break
		}
	}
	if err != nil || end.Outcome != host.Success || !strings.Contains(strings.Join(said, ""), oneshot.CodeContextLost) {
		r.t.Errorf("got %v, %+v and %q, want success and that the context is lost", err, end, said)
	}
}
