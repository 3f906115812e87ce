//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode"
)

// A desk is docket top in a terminal: a window of a tmux server of its own.
type desk struct {
	t      *testing.T
	server string
	dir    string
}

var desks atomic.Int64

// sitDown starts docket top in a terminal of that size, with more in its environment.
// The shell around it notes how the terminal was before and after.
func sitDown(t *testing.T, width, height int, env ...string) *desk {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	docket, err := exec.LookPath("docket")
	check(err)
	d := &desk{t, fmt.Sprintf("docket-top-%d-%d", os.Getpid(), desks.Add(1)), t.TempDir()}
	run := fmt.Sprintf(`cd '%s'; stty -g > before; echo was here; env %s sh -c 'echo $$ > pid; exec "%s" --store "%s" top';`+
		` echo $? > status; stty -g > after; exec sleep 1000`, d.dir, strings.Join(env, " "), docket, d.store())
	d.tmux("-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(width), "-y", strconv.Itoa(height), run)
	socket := d.tmux("display-message", "-p", "#{socket_path}")
	t.Cleanup(func() {
		d.tmux("kill-server")
		os.Remove(socket) // tmux leaves it
	})
	return d
}

func (d *desk) store() string { return filepath.Join(d.dir, "store") }

func (d *desk) tmux(args ...string) string {
	d.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-L", d.server}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=", "DOCKET_HOME=", "DOCKET_SESSION=")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		errors.As(err, &exit)
		d.t.Fatalf("tmux %q: %v: %s", args, err, exit.Stderr)
	}
	return strings.TrimRight(string(out), "\n")
}

// docket runs another docket on the same store.
func (d *desk) docket(args ...string) string {
	d.t.Helper()
	cmd := exec.Command("docket", append([]string{"--store", d.store()}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		d.t.Fatalf("docket %q: %v", args, err)
	}
	return strings.TrimSpace(string(out))
}

func (d *desk) screen() string { return d.tmux("capture-pane", "-p") }

// press types keys, by their tmux names.
func (d *desk) press(keys ...string) { d.tmux(append([]string{"send-keys"}, keys...)...) }

// shows waits until all of it is on the screen, however blanks and rows divide it.
func (d *desk) shows(want ...string) {
	d.t.Helper()
	screen := ""
	d.until(func() string { return fmt.Sprintf("the screen shows %q:\n%s", want, screen) }, func() bool {
		screen = d.screen()
		for _, w := range want {
			if !strings.Contains(onOneRow(screen), onOneRow(w)) {
				return false
			}
		}
		return true
	})
}

func onOneRow(text string) string { return strings.Join(strings.Fields(text), " ") }

func (d *desk) until(what func() string, ok func() bool) {
	d.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); !ok(); {
		select {
		case <-tick.C:
		case <-deadline:
			d.t.Fatalf("it never came to this: %s", what())
		}
	}
}

// file returns what the shell noted, once it has.
func (d *desk) file(name string) string {
	d.t.Helper()
	content := ""
	d.until(func() string { return "there is a file " + name }, func() bool {
		b, err := os.ReadFile(filepath.Join(d.dir, name))
		content = strings.TrimSpace(string(b))
		return err == nil && content != ""
	})
	return content
}

// left checks that docket top has ended and the terminal is as it was.
func (d *desk) left(status string) {
	d.t.Helper()
	if got := d.file("status"); got != status {
		d.t.Errorf("docket top: got status %s, want %s", got, status)
	}
	if before, after := d.file("before"), d.file("after"); before != after {
		d.t.Errorf("the mode of the terminal was %s and is %s", before, after)
	}
	screen := ""
	d.until(func() string { return "the view is gone:\n" + screen }, func() bool {
		screen = d.screen()
		return strings.Contains(screen, "was here") && !strings.Contains(screen, "docket top")
	})
}

func TestTopShowsWhatHappensAndRevokes(t *testing.T) {
	t.Parallel()
	d := sitDown(t, 100, 24)
	d.shows("no sessions yet")
	d.docket("new", "worker-1", "--title", "parser")
	d.shows("worker-1", "1 session")
	d.docket("ask", "worker-1", "--note", "which branch?")
	d.shows("? worker-1 asking", "1 needs you", "which branch?")
	d.docket("send", "worker-1", "run the tests")
	d.shows("worker-1 asking           1", "1 owed")
	mid := d.docket("send", "worker-1", "and the slow ones")
	d.shows("worker-1 asking           2")
	d.press("p")
	d.shows("1. owed", "2. owed", "run the tests")
	d.press("j", "x")
	d.shows("take it back?", "and the slow ones", mid)
	d.press("n")
	d.shows("nothing was changed")
	d.press("x")
	d.shows("take it back?")
	d.press("y")
	d.shows(mid+" is revoked", "1 owed")
	if got := d.docket("state", "worker-1", mid); !strings.Contains(got, "revoked") {
		t.Errorf("it is %s", got)
	}
	d.press("Escape")
	d.shows("worker-1 asking           1")
	d.docket("close", "worker-1")
	d.shows("no sessions yet")
	d.press("q")
	d.left("0")
}

func TestTopShowsAConversation(t *testing.T) {
	t.Parallel()
	d := sitDown(t, 80, 20)
	d.docket("new", "worker-1")
	for i := range 40 {
		d.docket("send", "worker-1", fmt.Sprintf("message number %d", i), "--no-drain")
	}
	d.shows("worker-1")
	d.press("Enter")
	d.shows("message number 39", "live", "owed")
	d.docket("review", "worker-1", "--note", "it is ready")
	d.shows("it is ready", "review")
	d.press("/")
	d.press("-l", "number 7")
	d.press("Enter")
	d.shows("> message number 7")
	d.press("g")
	d.shows("message number 0", "start")
	d.press("G")
	d.shows("it is ready", "live")
	d.press("q", "q")
	d.left("0")
}

// What is handed over when somebody leaves is waited for, on the terminal as it was.
func TestTopRetriesAndWaits(t *testing.T) {
	t.Parallel()
	d := sitDown(t, 100, 24)
	d.docket("new", "worker-1", "--adapter", "exec", "--set",
		"cmd=cd '"+d.dir+"'; cat >> got; touch begun; until [ -e go ]; do sleep 0.02; done")
	d.docket("send", "worker-1", "run the tests", "--no-drain", "--reply-via", "terminal")
	d.shows("> worker-1")
	d.press("r")
	d.shows("handing over what is owed")
	d.until(func() string { return "it is handed over" }, func() bool {
		_, err := os.Stat(filepath.Join(d.dir, "begun"))
		return err == nil
	})
	d.press("q")
	d.shows("was here", "waiting for the agent to take message")
	check(os.WriteFile(filepath.Join(d.dir, "go"), nil, 0o600))
	d.shows("worker-1: 1 delivered, 0 owed")
	d.left("0")
	if got := d.file("got"); got != "run the tests" {
		t.Errorf("the agent got %q", got)
	}
}

func TestTopGivesTheTerminalBackWhenTerminated(t *testing.T) {
	t.Parallel()
	d := sitDown(t, 80, 24)
	d.shows("docket top")
	pid, err := strconv.Atoi(d.file("pid"))
	check(err)
	check(syscall.Kill(pid, syscall.SIGTERM))
	d.left("0")
}

// The view follows the size of the terminal, says without colour what it says with it,
// and nothing of others acts on the terminal.
func TestTopOnAnyTerminal(t *testing.T) {
	t.Parallel()
	for _, env := range []string{"NO_COLOR=", "NO_COLOR=1"} {
		d := sitDown(t, 40, 16, env)
		d.docket("new", "worker-1", "--title", "rtl \u202e and \x1b[31mred 漢字")
		d.docket("error", "worker-1", "--note", "no \x07bell")
		d.shows("? worker-1 error")
		for _, width := range []int{40, 80, 200} {
			d.tmux("resize-window", "-x", strconv.Itoa(width), "-y", "20")
			d.shows("? worker-1 error", "q quit", `rtl \u202e and \x1b[31mred 漢字`, `no \abell`)
		}
		colored := d.tmux("capture-pane", "-p", "-e")
		if got := strings.Contains(colored, "\x1b[36m"); got != (env == "NO_COLOR=") {
			t.Errorf("%s: colours are used: %v", env, got)
		}
		for _, r := range d.screen() {
			if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%q is on the screen", r)
			}
		}
		d.press("C-c")
		d.left("0")
	}
}
