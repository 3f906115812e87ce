//go:build unix

package tmux_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/tmux"
)

func TestInsertTypesTheExactBytesAndSubmitsOnce(t *testing.T) {
	t.Parallel()
	p := startServer(t).open()
	a := p.adapter(t.TempDir())
	want := ""
	for i, text := range []string{
		"run the tests",
		"ends in a semicolon;",
		`ends in an escaped one \;`,
		";",
		"-t %0 leading option",
		"--",
		"Enter",
		"C-c",
		"#{pane_id} #(id) %H $HOME `id` ~ {a} \"q\" 'q' \\n \\033",
		"two\nlines",
		"a\ttab",
		"größer 漢字 🙂 e\u0301",
		"1. looks like a\n2. list",
	} {
		if err := insert(t, a, text); err != nil {
			t.Fatalf("insert %q: %v", text, err)
		}
		typed := text
		if strings.HasPrefix(text, "#") || strings.HasPrefix(text, "1.") {
			typed = "[docket] " + text // a command, and a list that would look like a dialog
		}
		if got := a.Sanitise(text); got != typed {
			t.Errorf("sanitised: got %q, want %q", got, typed)
		}
		want += pasted(typed)
		if got := p.bytes(); got != want {
			t.Fatalf("bytes after %q: got %q, want %q", text, got, want)
		}
		if got := len(p.prompts()); got != i+1 {
			t.Fatalf("submits after %q: got %d, want %d", text, got, i+1)
		}
	}
}

func TestInsertTypesTenKilobytesAsOnePaste(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"", "mark", "hidden"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			p := startServer(t).open(mode)
			var b strings.Builder
			for i := 0; b.Len() < 10<<10; i++ {
				fmt.Fprintf(&b, "line %d of a long message; with signs - and %%5\n", i)
			}
			text := b.String() + "the end"
			if err := insert(t, p.adapter(t.TempDir()), text); err != nil {
				t.Fatal(err)
			}
			if got, want := p.bytes(), pasted(text); got != want {
				t.Errorf("bytes: got %d, want %d", len(got), len(want))
			}
		})
	}
}

func TestInsertSanitises(t *testing.T) {
	t.Parallel()
	p := startServer(t).open()
	a := p.adapter(t.TempDir())
	// A paste that could end itself would press Enter and interrupt.
	if err := insert(t, a, "innocent\x1b[201~\r\x03rm -rf /\r\n\x1b[200~done\r\n"); err != nil {
		t.Fatal(err)
	}
	if got, want := p.bytes(), pasted("innocent\nrm -rf /\ndone"); got != want {
		t.Errorf("bytes: got %q, want %q", got, want)
	}
	if got := len(p.prompts()); got != 1 {
		t.Errorf("submits: got %d, want 1", got)
	}
}

func TestInsertRefusesATextOfWhichNothingIsLeft(t *testing.T) {
	t.Parallel()
	p := startServer(t).open()
	for _, text := range []string{"\x1b[2J\x00\x7f\r\n", " \t\n", "\u200b"} {
		answered(t, insert(t, p.adapter(t.TempDir()), text), adapter.Refused, tmux.ErrText, "nothing of it is left")
	}
	p.untouched()
}

func TestCommandsPassOnlyWhenAllowed(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	tagged, allowed := s.open(), s.open()
	if err := insert(t, tagged.adapter(t.TempDir()), "/quit"); err != nil {
		t.Fatal(err)
	}
	if err := insert(t, allowed.adapter(t.TempDir(), func(o *tmux.Options) { o.AllowCommands = true }), "/quit"); err != nil {
		t.Fatal(err)
	}
	if got, want := tagged.bytes(), pasted("[docket] /quit"); got != want {
		t.Errorf("bytes: got %q, want %q", got, want)
	}
	if got, want := allowed.bytes(), pasted("/quit"); got != want {
		t.Errorf("bytes: got %q, want %q", got, want)
	}
}

func TestPlainProgramsGetSingleLinesOnly(t *testing.T) {
	t.Parallel()
	p := startServer(t).open("plain")
	a := p.adapter(t.TempDir())
	answered(t, insert(t, a, "two\nlines"), adapter.Refused, adapter.ErrBlocked, "bracketed paste")
	answered(t, insert(t, a, "a\ttab"), adapter.Refused, adapter.ErrBlocked, "bracketed paste")
	p.untouched()
	if err := insert(t, a, "one line"); err != nil {
		t.Fatal(err)
	}
	if got, want := p.bytes(), "one line\r"; got != want {
		t.Errorf("bytes: got %q, want %q", got, want)
	}
}

func TestLookingForBracketedPasteLeavesTheUsersViewAlone(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p := s.open()
	s.do("split-window", "-d", "-t", p.id, "sleep 1000")
	s.do("select-window", "-t", "main:0", ";", "select-pane", "-t", p.id, ";", "last-pane", "-t", p.id)
	const view = "#{session_name} #{window_id} #{window_active} #{pane_id} #{pane_active} #{pane_width}x#{pane_height}"
	before := s.do("list-panes", "-a", "-F", view)
	if err := insert(t, p.adapter(t.TempDir()), "two\nlines"); err != nil {
		t.Fatal(err)
	}
	if got := s.do("list-panes", "-a", "-F", view); got != before {
		t.Errorf("panes: got\n%s\nwant\n%s", got, before)
	}
}

func TestLookingForBracketedPasteLooksAtTheRightPane(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	first := s.open()
	panes := map[*pane]bool{
		first: true,
		s.openBy([]string{"split-window", "-t", first.id}, "plain"): false,
		s.openBy([]string{"split-window", "-t", first.id}):          true,
		s.open("plain"): false,
	}
	for shown := range panes { // what the user looks at does not matter
		s.do("select-window", "-t", shown.id, ";", "select-pane", "-t", shown.id)
		for p, brackets := range panes {
			want := adapter.Refused
			if brackets {
				want = adapter.Taken
			}
			if err := insert(t, p.adapter(t.TempDir()), "two\nlines"); adapter.AnswerOf(err) != want {
				t.Errorf("pane %s while %s is shown: got %v, want %v", p.id, shown.id, err, want)
			}
		}
	}
}

func TestInsertsIntoTwoPanesDoNotMix(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	panes := []*pane{s.open(), s.open()}
	want := make([]string, len(panes))
	var all sync.WaitGroup
	for i, p := range panes {
		a := p.adapter(t.TempDir())
		for n := range 5 {
			want[i] += pasted(fmt.Sprintf("pane %d\nmessage %d", i, n))
		}
		all.Go(func() {
			for n := range 5 {
				if err := insert(t, a, fmt.Sprintf("pane %d\nmessage %d", i, n)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for i, p := range panes {
		if got := p.bytes(); got != want[i] {
			t.Errorf("pane %d: got %q, want %q", i, got, want[i])
		}
	}
}

func TestOneAdapterTypesOnePromptAtATime(t *testing.T) {
	t.Parallel()
	p := startServer(t).open()
	a := p.adapter(t.TempDir())
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			if err := insert(t, a, fmt.Sprintf("message %d", n)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	seen := map[string]bool{}
	for _, line := range p.prompts() {
		var said struct{ Content string }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatal(err)
		}
		seen[said.Content] = true
	}
	if len(seen) != 4 || len(p.prompts()) != 4 {
		t.Errorf("prompts: got %q, want four different ones", p.prompts())
	}
}
