package opencode_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/adaptertest/fakemodel"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
	"github.com/docket-go/docket/adapter/opencode"
)

// real is opencode itself, with a model that keeps the list of what it was asked.
type real struct {
	t       *testing.T
	model   *fakemodel.Server
	home    *realagent.Home
	process *realagent.Process
	url     string
	before  int // what the model was asked in other tests
}

// TestReal is everything that is proven with opencode itself. One process serves all of
// it, one after the other, as a start takes longer than most of the tests.
func TestReal(t *testing.T) {
	o := startReal(t)
	for _, tt := range []struct {
		name string
		run  func(t *testing.T, o *real)
	}{
		{"texts reach the model", realTexts},
		{"exactly once", realExactlyOnce},
		{"busy", realBusy},
		{"permission", realPermission},
		{"unknown names", realUnknownNames},
		{"repeated at the same time", realRepeated},
		{"kill of docket at every request", realKillOfDocket},
		{"kill of docket before the settlement", realKillBeforeTheSettlement},
		{"survives a kill of opencode", realKill},
		{"conformance", realConformance}, // leaves turns at work
	} {
		t.Run(tt.name, func(t *testing.T) {
			mine := *o
			mine.t, mine.before = t, len(o.model.Turns())
			tt.run(t, &mine)
		})
	}
}

// startReal starts opencode serve and waits until it answers.
func startReal(t *testing.T) *real {
	t.Helper()
	model, err := fakemodel.Start(fakemodel.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = model.Close() })
	o := &real{t: t, model: model, home: realagent.New(t, realagent.OpenCode, model.URL())}
	o.serve("0")
	return o
}

var listening = regexp.MustCompile(`listening on (http://127\.0\.0\.1:([0-9]+))`)

// serve starts the process on a port; 0 means any.
func (o *real) serve(port string) {
	o.t.Helper()
	o.process = o.home.Start("serve", "--hostname", "127.0.0.1", "--port", port)
	eventually(o.t, "opencode listens", func() bool {
		said := listening.FindStringSubmatch(o.process.Said())
		if said != nil {
			o.url = said[1]
		}
		return said != nil
	})
	eventually(o.t, "opencode answers", func() bool { return o.get("/session/status", &map[string]any{}) == nil })
}

// restart starts it again where it was.
func (o *real) restart() { o.serve(o.url[strings.LastIndex(o.url, ":")+1:]) }

// get asks opencode itself. In its first moments it leaves requests without an answer.
func (o *real) get(path string, answer any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %d %s", path, response.StatusCode, b)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(b, answer)
}

// received returns the prompts in the session of opencode that an adapter has kept in a
// session's directory.
func (o *real) received(dir string) (got []adapter.Prompt, err error) {
	id, err := os.ReadFile(filepath.Join(dir, "opencode", "session"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []stored
	err = o.get("/session/"+strings.TrimSpace(string(id))+"/message", &all)
	for _, m := range all {
		if m.Info.Role == "user" && err == nil {
			var p adapter.Prompt
			p, err = promptOf(m)
			got = append(got, p)
		}
	}
	return got, err
}

// turns returns what the model was asked in this test.
func (o *real) turns() []string { return o.model.Turns()[o.before:] }

// idle waits until no turn is at work.
func (o *real) idle() {
	o.t.Helper()
	eventually(o.t, "opencode is idle", func() bool {
		var busy map[string]any
		return o.get("/session/status", &busy) == nil && len(busy) == 0
	})
}

// asked waits until the model was asked that for a turn of its own.
func (o *real) asked(want ...string) {
	o.t.Helper()
	o.begun(len(want))
	o.idle()
	if got := o.turns(); !slices.Equal(got, want) {
		o.t.Errorf("model: got turns %.200q, want %.200q", got, want)
	}
}

// begun waits until the model was asked for so many turns.
func (o *real) begun(n int) {
	o.t.Helper()
	eventually(o.t, fmt.Sprintf("%d turns", n), func() bool { return len(o.turns()) >= n })
}

// take hands p over, again and again while opencode is busy.
func (o *real) take(a *opencode.Adapter, p adapter.Prompt) {
	o.t.Helper()
	eventually(o.t, "taken: "+p.MID, func() bool {
		err := a.Insert(o.t.Context(), p)
		if answer := adapter.AnswerOf(err); answer == adapter.Unconfirmed {
			o.t.Fatalf("%s: got %v, want taken or refused", p.MID, err)
		}
		return err == nil
	})
}

func realConformance(t *testing.T, o *real) {
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
		way, dir := startWay(t, o.url), t.TempDir()
		return adaptertest.Harness{
			// The texts of a case come without a pause, and a turn takes a while.
			Adapter:  open(t, dir, opencode.Options{URL: way.http.URL, Join: true}),
			Received: func() ([]adapter.Prompt, error) { return o.received(dir) },
			Refuse:   func() error { way.closed.Store(true); return nil },
			Restore:  func() error { way.closed.Store(false); return nil },
			Hang:     func() (func() bool, error) { way.swallows.Store(true); return way.swallowed.Load, nil },
			Patience: patience,
		}
	})
}

// realTexts compares byte for byte what the model was asked, and looks
// for what it must not see.
func realTexts(t *testing.T, o *real) {
	dir := t.TempDir()
	a := open(t, dir, opencode.Options{URL: o.url})
	texts := []string{
		"plain", "trailing newlines\n\n\n", "  blanks around \t ", "\nleading newline", "carriage\rreturn and\r\nboth",
		"\x1b[201~ escape \x1b[31m red \x07 bell \x7f \x01", "/init", "!ls", "@README.md and @general do it", "# heading", "$HOME `echo no` $(id)",
		`"double" 'single' \n \\ {"json":1} <b>&amp;</b>`, "café 你好 \U0001F600 é \u202eleft\u202c \ufeff \u2028 \u2029",
		strings.Repeat("0123456789abcdef", 6400) + "end",
	}
	var prompts []adapter.Prompt
	for i, text := range texts {
		p := adapter.Prompt{MID: fmt.Sprintf("m%d", i), Session: "s1", From: "peer-7431", Text: text, Attributes: map[string]string{"ticket": "secret-9157"}}
		o.take(a, p)
		prompts = append(prompts, p)
	}
	o.asked(texts...)
	got, err := o.received(dir)
	if err != nil || len(got) != len(prompts) {
		t.Fatalf("opencode: got %d prompts, %v, want %d", len(got), err, len(prompts))
	}
	for i, p := range prompts {
		if got[i].MID != p.MID || got[i].Text != p.Text || got[i].From != p.From || got[i].Attributes["ticket"] != "secret-9157" {
			t.Errorf("opencode: prompt %d: got %.300v, want %.300v", i, got[i], p)
		}
	}
	for _, r := range o.model.Requests() {
		for _, hidden := range []string{"peer-7431", "secret-9157"} {
			if strings.Contains(string(r.Body), hidden) {
				t.Errorf("model: request %d: got %s in it, want the text alone", r.Seq, hidden)
			}
		}
	}
}

// realExactlyOnce kills the process that hands over at every step. What is left is
// looked up and handed over again as a delivery pass does, and the model is asked once.
func realExactlyOnce(t *testing.T, o *real) {
	var want []string
	dir := t.TempDir()
	for i, tt := range steps {
		if tt.fresh {
			dir = t.TempDir()
		}
		mid, text := fmt.Sprintf("m%d", i), "killed at "+tt.step
		dieInside(t, tt.step, o.url, dir, mid, text)
		a := open(t, dir, opencode.Options{URL: o.url})
		got, err := a.Lookup(t.Context(), mid)
		if err != nil || got != tt.want && !(tt.step == "opencode: sent" && got == adapter.CannotTell) { // it shows a little later
			t.Errorf("%s: Lookup: got %s, %v, want %s", tt.step, got, err, tt.want)
		}
		for range 2 { // and once more than a pass would
			eventually(t, "taken: "+mid, func() bool { return a.Insert(t.Context(), prompt(mid, text)) == nil })
		}
		if got, err := a.Lookup(t.Context(), mid); got != adapter.Present {
			t.Errorf("%s: Lookup in the end: got %s, %v, want present", tt.step, got, err)
		}
		want = append(want, text)
		o.asked(want...)
	}
}

// realRepeated has several processes' adapters hand over one message at once, past the
// look that each takes first: opencode has it once and the model is asked once.
func realRepeated(t *testing.T, o *real) {
	dir := t.TempDir()
	var want []string
	for round := range 5 {
		p := prompt(fmt.Sprintf("m%d", round), fmt.Sprintf("round %d", round))
		var wg sync.WaitGroup
		for range 6 {
			a := open(t, dir, opencode.Options{URL: o.url, Join: true})
			wg.Go(func() {
				if err := a.Insert(t.Context(), p); err != nil {
					t.Errorf("%s: got %v, want taken", p.MID, err)
				}
			})
		}
		wg.Wait()
		want = append(want, p.Text)
		o.asked(want...)
	}
	if got, err := o.received(dir); err != nil || len(got) != len(want) {
		t.Errorf("opencode: got %v, %v, want %d messages of one part", got, err, len(want))
	}
}

// realKill kills opencode inside a turn.
func realKill(t *testing.T, o *real) {
	dir := t.TempDir()
	a := open(t, dir, opencode.Options{URL: o.url})
	o.take(a, prompt("m1", "one [[wait never]]"))
	o.begun(1)
	o.process.Kill()
	if s, err := a.Probe(t.Context()); s != adapter.Gone {
		t.Errorf("Probe: got %s, %v, want gone", s, err)
	}
	if err := a.Insert(t.Context(), prompt("m2", "two")); adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("Insert: got %v, want it refused", err)
	}
	o.restart()
	if p, err := a.Lookup(t.Context(), "m1"); p != adapter.Present {
		t.Errorf("Lookup: got %s, %v, want present", p, err)
	}
	if p, err := a.Lookup(t.Context(), "m2"); p != adapter.Absent {
		t.Errorf("Lookup: got %s, %v, want absent", p, err)
	}
	for _, p := range []adapter.Prompt{prompt("m1", "one [[wait never]]"), prompt("m2", "two")} {
		o.take(a, p)
	}
	o.asked("one [[wait never]]", "two")
}
