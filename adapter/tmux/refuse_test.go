//go:build unix

package tmux_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/tmux"
	"github.com/docket-go/docket/lock/step"
)

func TestInsertRefusesWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		modes  []string
		after  []string // a tmux command on the pane
		reason error
		words  string
		state  adapter.State
	}{
		{"dialog", []string{"dialog"}, nil, adapter.ErrBlocked, "dialog", adapter.Blocked},
		{"dialog with a hidden cursor", []string{"dialog", "hidden"}, nil, adapter.ErrBlocked, "dialog", adapter.Blocked},
		{"draft", []string{"draft"}, nil, adapter.ErrBlocked, "half a thou", adapter.Blocked},
		{"draft with a hidden cursor", []string{"draft", "hidden"}, nil, adapter.ErrBlocked, "half a thou", adapter.Blocked},
		{"busy", []string{"busy"}, nil, adapter.ErrBusy, "at work", adapter.Busy},
		{"copy mode", nil, []string{"copy-mode", "-t"}, adapter.ErrBlocked, "copy mode", adapter.Blocked},
		{"input off", nil, []string{"select-pane", "-d", "-t"}, adapter.ErrBlocked, "input", adapter.Blocked},
		{"nothing to type into", []string{"silent", "hidden"}, nil, adapter.ErrBlocked, "no input line", adapter.Unknown},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := startServer(t).open(tt.modes...)
			if tt.after != nil {
				p.do(append(tt.after, p.id)...)
			}
			a := p.adapter(t.TempDir())
			answered(t, insert(t, a, "two\nlines"), adapter.Refused, tt.reason, tt.words)
			p.untouched()
			state, err := a.Probe(context.Background())
			if err != nil || state != tt.state {
				t.Errorf("probe: got %v, %v, want %v", state, err, tt.state)
			}
		})
	}
}

func TestInsertRefusesADeadPaneAndTheServerSurvives(t *testing.T) {
	t.Parallel()
	p := startServer(t).open()
	a := p.adapter(t.TempDir())
	p.kill()
	answered(t, insert(t, a, "two\nlines"), adapter.Refused, adapter.ErrGone, "has ended")
	p.do("list-panes", "-a")
	p.untouched()
}

// kill ends the reader; its pane stays.
func (p *pane) kill() {
	p.t.Helper()
	pid, err := strconv.Atoi(p.do("display-message", "-p", "-t", p.id, "#{pane_pid}"))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		p.t.Fatal(err)
	}
	eventually(p.t, "the pane is dead", func() bool {
		return p.do("display-message", "-p", "-t", p.id, "#{pane_dead}") == "1"
	})
}

// respawn puts another reader into the pane.
func (p *pane) respawn() *pane {
	p.t.Helper()
	other := &pane{server: p.server, id: p.id, log: p.log + "-again"}
	p.do("respawn-pane", "-k", "-t", p.id, p.command(other.log, nil))
	other.ready(nil)
	return other
}

func TestAnotherPaneUnderTheSameNumberIsGone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		recycle func(p *pane) *pane
	}{
		{"respawned", (*pane).respawn},
		{"restarted server", func(p *pane) *pane {
			p.do("kill-server")
			p.restart()
			for { // the numbers start again
				if other := p.open(); other.id == p.id {
					return other
				}
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, dir := startServer(t).open(), t.TempDir()
			if _, err := p.adapter(dir).Probe(context.Background()); err != nil {
				t.Fatal(err)
			}
			other := tt.recycle(p)
			later := p.adapter(dir) // as another process would
			answered(t, insert(t, later, "for the old one"), adapter.Refused, adapter.ErrGone, filepath.Join(dir, tmux.BindingFile))
			other.untouched()
			if state, err := later.Probe(context.Background()); err != nil || state != adapter.Gone {
				t.Errorf("probe: got %v, %v, want gone", state, err)
			}
			if err := later.Interrupt(context.Background()); !errors.Is(err, adapter.ErrGone) {
				t.Errorf("interrupt: got %v, want gone", err)
			}
			if err := os.Remove(filepath.Join(dir, tmux.BindingFile)); err != nil {
				t.Fatal(err)
			}
			if err := insert(t, later, "for the new one"); err != nil {
				t.Errorf("after the binding was removed: %v", err)
			}
		})
	}
}

func TestABindingThatIsSetCountsWithoutAFile(t *testing.T) {
	t.Parallel()
	p, dir := startServer(t).open(), t.TempDir()
	id, err := p.adapter("").Identity(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	a := p.adapter(dir, func(o *tmux.Options) { o.Bind = id.String() })
	if err := insert(t, a, "bound"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, tmux.BindingFile)); !os.IsNotExist(err) {
		t.Errorf("binding file: got %v, want none", err)
	}
	other := p.respawn()
	answered(t, insert(t, a, "not bound"), adapter.Refused, adapter.ErrGone, "another pane")
	other.untouched()
}

func TestADamagedBindingRefusesAndStays(t *testing.T) {
	t.Parallel()
	p, dir := startServer(t).open(), t.TempDir()
	path := filepath.Join(dir, tmux.BindingFile)
	if err := os.WriteFile(path, []byte(`{"version":1,"iden`), 0o600); err != nil {
		t.Fatal(err)
	}
	answered(t, insert(t, p.adapter(dir), "hello"), adapter.Refused, nil, path)
	p.untouched()
	if b, err := os.ReadFile(path); err != nil || string(b) != `{"version":1,"iden` {
		t.Errorf("binding file: got %q, %v", b, err)
	}
}

func TestABindingFollowsTheSettings(t *testing.T) {
	t.Parallel()
	s, dir := startServer(t), t.TempDir()
	first, second := s.open(), s.open()
	for _, p := range []*pane{first, second} {
		if err := insert(t, p.adapter(dir), "hello"); err != nil {
			t.Fatal(err)
		}
		if got, want := p.bytes(), pasted("hello"); got != want {
			t.Errorf("bytes: got %q, want %q", got, want)
		}
	}
	info, err := os.Stat(filepath.Join(dir, tmux.BindingFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("binding file: got %v, %v, want mode 0600", info, err)
	}
}

func TestUnknownPanesAndServersAreGone(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	for _, p := range []*pane{{server: s, id: "%9999"}, {server: &server{t: t, name: s.name + "-none"}, id: "%0"}} {
		answered(t, insert(t, p.adapter(t.TempDir()), "hello"), adapter.Refused, adapter.ErrGone, p.id)
	}
}

// What happens between the last look and the command must be caught by the
// server. These tests are not parallel: they use the one hook of the process.
func TestTheServerItselfRefusesAPaneThatChanged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(p *pane) *pane
	}{
		{"dies", func(p *pane) *pane { p.kill(); return p }},
		{"copy mode", func(p *pane) *pane { p.do("copy-mode", "-t", p.id); return p }},
		{"input off", func(p *pane) *pane { p.do("select-pane", "-d", "-t", p.id); return p }},
		{"respawned", (*pane).respawn},
		{"removed", func(p *pane) *pane { p.do("kill-pane", "-t", p.id); return p }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := startServer(t).open()
			now := p
			restore := step.Hook(func(name string) {
				if name == "tmux: about to paste" {
					now = tt.change(p)
				}
			})
			defer restore()
			answered(t, insert(t, p.adapter(t.TempDir()), "two\nlines"), adapter.Refused, adapter.ErrBusy, "")
			p.do("list-panes", "-a") // the server lives
			p.untouched()
			now.untouched()
		})
	}
}

func TestTheServerItselfRefusesAnotherProgram(t *testing.T) {
	s := startServer(t)
	p := &pane{server: s, log: filepath.Join(s.dir, "log")}
	after := filepath.Join(s.dir, "after")
	// The reader is a child here: when it ends, the same pane has another program.
	script := strings.Replace(s.command(p.log, nil), "exec ", "", 1)
	p.id = s.do("new-window", "-d", "-P", "-F", "#{pane_id}", fmt.Sprintf("%s; exec cat >'%s'", script, after))
	p.ready(nil)
	defer step.Hook(func(name string) {
		if name == "tmux: about to paste" {
			p.do("send-keys", "-t", p.id, "C-d") // ends the reader
			eventually(t, "cat runs", func() bool {
				return p.do("display-message", "-p", "-t", p.id, "#{pane_current_command}") == "cat"
			})
		}
	})()
	answered(t, insert(t, p.adapter(t.TempDir()), "hello"), adapter.Refused, adapter.ErrBusy, "")
	if b, err := os.ReadFile(after); err != nil || len(b) > 0 {
		t.Errorf("the other program: got %q, %v, want nothing", b, err)
	}
	if got := p.screen(); strings.Contains(got, "hello") {
		t.Errorf("screen: got %q, want nothing typed", got)
	}
}

func TestEnterIsNotPressedInAPaneThatChanged(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(p *pane)
	}{
		{"copy mode", func(p *pane) { p.do("copy-mode", "-t", p.id) }},
		{"respawned", func(p *pane) { p.respawn() }},
		{"dies", (*pane).kill},
	} {
		for _, at := range []string{"tmux: pasted", "tmux: about to submit"} {
			t.Run(tt.name+" at "+at, func(t *testing.T) {
				p := startServer(t).open()
				defer step.Hook(func(name string) {
					if name == at {
						tt.change(p)
					}
				})()
				answered(t, insert(t, p.adapter(t.TempDir()), "hello"), adapter.Unconfirmed, nil, "not submitted")
				if got := p.prompts(); len(got) != 0 {
					t.Errorf("prompts: got %q, want none", got)
				}
				p.do("list-panes", "-a")
			})
		}
	}
}

func TestADialogThatOpensAfterThePasteIsNotAnswered(t *testing.T) {
	t.Parallel()
	p := startServer(t).open("dialog-after-paste")
	a := p.adapter(t.TempDir())
	answered(t, insert(t, a, "hello"), adapter.Unconfirmed, nil, "a dialog is open")
	if got, want := p.bytes(), strings.TrimSuffix(pasted("hello"), "\r"); got != want {
		t.Errorf("bytes: got %q, want %q", got, want)
	}
	answered(t, insert(t, a, "hello"), adapter.Refused, adapter.ErrBlocked, "dialog")
}

func TestAHungServerDoesNotHangInsert(t *testing.T) {
	for _, tt := range []struct {
		at   string
		want adapter.Answer
	}{
		{"before", adapter.Refused},
		{"tmux: about to paste", adapter.Unconfirmed},
		{"tmux: pasted", adapter.Unconfirmed},
	} {
		t.Run(tt.at, func(t *testing.T) {
			p := startServer(t).open()
			a := p.adapter(t.TempDir(), func(o *tmux.Options) { o.CommandTimeout = time.Second })
			pid, err := strconv.Atoi(p.do("display-message", "-p", "#{pid}"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
			hang := func(name string) {
				if name == tt.at {
					_ = syscall.Kill(pid, syscall.SIGSTOP)
				}
			}
			defer step.Hook(hang)()
			hang("before")
			answered(t, insert(t, a, "hello"), tt.want, tmux.ErrNoAnswer, "does not answer")
			if state, err := a.Probe(context.Background()); state != adapter.Unknown || !errors.Is(err, tmux.ErrNoAnswer) {
				t.Errorf("probe: got %v, %v, want unknown", state, err)
			}
			if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
				t.Fatal(err)
			}
			p.do("list-panes", "-a")
			if got := p.prompts(); len(got) != 0 {
				t.Errorf("prompts: got %q, want none", got)
			}
		})
	}
}

func TestInsertFollowsItsContext(t *testing.T) {
	p := startServer(t).open()
	a := p.adapter(t.TempDir())
	ctx, cancel := context.WithCancel(context.Background())
	defer step.Hook(func(name string) {
		if name == "tmux: pasted" {
			cancel()
		}
	})()
	err := a.Insert(ctx, adapter.Prompt{MID: "m1", Text: "hello"})
	answered(t, err, adapter.Unconfirmed, context.Canceled, "not submitted")
	err = a.Insert(ctx, adapter.Prompt{MID: "m1", Text: "hello"})
	answered(t, err, adapter.Refused, context.Canceled, "")
	if got := p.prompts(); len(got) != 0 {
		t.Errorf("prompts: got %q, want none", got)
	}
}

func TestWithoutTmuxEverythingIsRefused(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	a, err := tmux.New(adapter.Session{}, tmux.Options{Target: "%0"})
	if err != nil {
		t.Fatal(err)
	}
	answered(t, insert(t, a, "hello"), adapter.Refused, tmux.ErrNoProgram, "install")
	if state, err := a.Probe(context.Background()); state != adapter.Unknown || !errors.Is(err, tmux.ErrNoProgram) {
		t.Errorf("probe: got %v, %v", state, err)
	}
}

func TestShellsAreNotTypedInto(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	p := &pane{server: s, id: s.do("new-window", "-d", "-P", "-F", "#{pane_id}", "PS1='$ ' exec sh -i")}
	eventually(t, "the shell is ready", func() bool { return p.screen() == "$" })
	refused := p.adapter(t.TempDir())
	answered(t, insert(t, refused, "echo hello"), adapter.Refused, adapter.ErrGone, "program=sh")
	wanted := p.adapter(t.TempDir(), func(o *tmux.Options) { o.Program = "sh" })
	if err := insert(t, wanted, "echo hello"); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command has run", func() bool { return strings.Contains(p.screen(), "\nhello\n") })
}

func TestAShellThatIsBackIsGone(t *testing.T) {
	t.Parallel()
	s, dir := startServer(t), t.TempDir()
	// The prompt alone would pass for a program of its own.
	p := &pane{server: s, log: filepath.Join(s.dir, "log")}
	p.id = s.do("new-window", "-d", "-P", "-F", "#{pane_id}", "PS1='> ' ENV= exec sh -i")
	eventually(t, "the shell is ready", func() bool { return p.screen() == ">" })
	p.do("send-keys", "-t", p.id, "cat", "Enter")
	eventually(t, "cat runs", func() bool { return p.do("display-message", "-p", "-t", p.id, "#{pane_current_command}") == "cat" })
	a := p.adapter(dir)
	if err := insert(t, a, "to the cat"); err != nil {
		t.Fatal(err)
	}
	p.do("send-keys", "-t", p.id, "C-d")
	eventually(t, "the shell is back", func() bool { return p.do("display-message", "-p", "-t", p.id, "#{pane_current_command}") == "sh" })
	answered(t, insert(t, a, "touch "+p.log), adapter.Refused, adapter.ErrGone, "cat has ended")
	if state, err := a.Probe(context.Background()); err != nil || state != adapter.Gone {
		t.Errorf("probe: got %v, %v, want gone", state, err)
	}
}
