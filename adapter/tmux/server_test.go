//go:build unix

package tmux_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/tmux"
)

// patience bounds every wait of a test for another process.
const patience = time.Minute

var servers atomic.Int32

// A server is a tmux server that belongs to one test.
type server struct {
	t    testing.TB
	name string
	dir  string
}

// startServer starts a server with one idle pane. At the end of the test no
// buffer and no session of the adapter may be left in it.
func startServer(t testing.TB) *server {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	s := &server{t, fmt.Sprintf("docket-test-%d-%d", os.Getpid(), servers.Add(1)), t.TempDir()}
	s.restart()
	socket := s.do("display-message", "-p", "#{socket_path}")
	t.Cleanup(func() {
		defer os.Remove(socket) // tmux leaves it
		if buffers, err := s.try("list-buffers"); err == nil && buffers != "" {
			t.Errorf("left behind: buffers %q", buffers)
		}
		if sessions, err := s.try("list-sessions", "-F", "#{session_name}"); err == nil && sessions != "main" {
			t.Errorf("left behind: sessions %q", sessions)
		}
		_, _ = s.try("kill-server")
	})
	return s
}

// restart starts the server, of whose panes %0 is the first. A client that
// reaches the old server while that one ends is turned away and asks again.
func (s *server) restart() {
	s.t.Helper()
	eventually(s.t, "no server with that name", func() bool { _, err := s.try("list-panes"); return err != nil })
	eventually(s.t, "the server starts", func() bool {
		_, err := s.try("-f", "/dev/null", "new-session", "-d", "-s", "main", "-x", "100", "-y", "30", "sleep 1000", ";",
			"set-option", "-g", "remain-on-exit", "on")
		return err == nil
	})
}

func (s *server) try(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-u", "-L", s.name}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=")
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

func (s *server) do(args ...string) string {
	s.t.Helper()
	out, err := s.try(args...)
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			s.t.Fatalf("tmux %q: %v: %s", args, err, exit.Stderr)
		}
		s.t.Fatalf("tmux %q: %v", args, err)
	}
	return out
}

// A pane runs a reader.
type pane struct {
	*server
	id  string
	log string
}

// command is the shell command that makes a reader of the test binary.
func (s *server) command(log string, modes []string) string {
	binary, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("stty raw -echo; DOCKET_TMUX_TEST=reader exec '%s' '%s' %s", binary, log, strings.Join(modes, " "))
}

// open starts a reader in a window of its own and waits until it is ready.
func (s *server) open(modes ...string) *pane { return s.openBy([]string{"new-window"}, modes...) }

// openBy starts a reader in a pane that the tmux command how makes.
func (s *server) openBy(how []string, modes ...string) *pane {
	s.t.Helper()
	p := &pane{server: s, log: filepath.Join(s.dir, fmt.Sprintf("log-%d", servers.Add(1)))}
	p.id = s.do(append(how, "-d", "-P", "-F", "#{pane_id}", s.command(p.log, modes))...)
	p.ready(modes)
	return p
}

func (p *pane) ready(modes []string) {
	p.t.Helper()
	silent := strings.Contains(strings.Join(modes, " "), "silent")
	eventually(p.t, "the reader is ready", func() bool {
		_, err := os.Stat(p.log + ".prompts")
		return err == nil && (silent || strings.Contains(p.screen(), "harness"))
	})
}

func (p *pane) screen() string { return p.do("capture-pane", "-p", "-t", p.id) }

// bytes returns all bytes that the reader got.
func (p *pane) bytes() string {
	p.t.Helper()
	b, err := os.ReadFile(p.log)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(b)
}

// prompts returns the lines that the reader has logged, one for each submit.
func (p *pane) prompts() []string {
	p.t.Helper()
	b, err := os.ReadFile(p.log + ".prompts")
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")[:bytes.Count(b, []byte("\n"))]
}

// adapter opens an adapter for the pane in the session directory dir.
func (p *pane) adapter(dir string, change ...func(*tmux.Options)) *tmux.Adapter {
	p.t.Helper()
	o := tmux.Options{Target: p.id, Socket: p.name, Settle: 10 * time.Millisecond, Wait: patience, TranscriptWait: patience, CommandTimeout: patience}
	for _, c := range change {
		c(&o)
	}
	a, err := tmux.New(adapter.Session{ID: "s1", Dir: dir}, o)
	if err != nil {
		p.t.Fatal(err)
	}
	return a
}

func insert(t testing.TB, a adapter.Adapter, text string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	return a.Insert(ctx, adapter.Prompt{MID: "m1", Session: "s1", Text: text})
}

// pasted is what a reader gets for one prompt.
func pasted(text string) string { return "\x1b[200~" + text + "\x1b[201~\r" }

func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

// answered fails the test unless err is the wanted answer, for the wanted reason
// if there is one, and names what wants.
func answered(t *testing.T, err error, want adapter.Answer, reason error, words string) {
	t.Helper()
	if got := adapter.AnswerOf(err); got != want {
		t.Fatalf("answer: got %v (%v), want %v", got, err, want)
	}
	if want == adapter.Unconfirmed && errors.Is(err, adapter.ErrRefused) {
		t.Errorf("error: got %v, which is refused too", err)
	}
	if reason != nil && !errors.Is(err, reason) {
		t.Errorf("error: got %v, want one that is %v", err, reason)
	}
	if err != nil && !strings.Contains(err.Error(), words) {
		t.Errorf("error: got %q, want one that says %q", err, words)
	}
}

// untouched fails the test if the reader got anything.
func (p *pane) untouched() {
	p.t.Helper()
	if got := p.bytes(); got != "" {
		p.t.Errorf("bytes: got %q, want none", got)
	}
}
