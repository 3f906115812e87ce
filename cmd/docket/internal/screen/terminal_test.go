//go:build unix

package screen_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// The test binary again is the program on the terminal: it shows a frame and the keys
// that it gets, and ends at q, or with a panic at p.
func TestMain(m *testing.M) {
	switch os.Getenv("DOCKET_SCREEN_TEST") {
	case "":
		os.Exit(m.Run())
	case "nobody":
		_, err := screen.Open(os.Stdin, os.Stdout, screen.Options{})
		fmt.Println(err == screen.ErrNoTerminal)
	default:
		show()
	}
}

func show() {
	t, err := screen.Open(os.Stdin, os.Stdout, screen.Options{})
	if err != nil {
		panic(err)
	}
	defer t.Close()
	keys := "keys:"
	for {
		width, height := t.Size()
		frame := screen.Frame{
			{Spans: []screen.Span{{Text: "漢字", Style: screen.Accent}, {Text: "|behind"}}},
			screen.Of(fmt.Sprintf("%dx%d", width, height), screen.Plain),
			screen.Of("acts \x1b[2J\a\u202e not", screen.Strong),
			screen.Of(keys, screen.Dim),
			screen.Of(strings.Repeat("long ", 100), screen.Plain),
			screen.Of("selected", screen.Plain),
		}
		frame[5].Selected = true
		if err := t.Draw(frame); err != nil {
			panic(err)
		}
		select {
		case k, more := <-t.Keys():
			switch {
			case !more, k.Name == "q":
				return
			case k.Name == "p":
				panic("a bug")
			}
			keys += " " + k.Name
		case <-t.Resized():
		}
	}
}

// A window is a terminal of a tmux server of its own.
type window struct {
	t      *testing.T
	server string
	dir    string
}

var windows atomic.Int64

// open runs the program in a window. The shell around it notes how the terminal was.
func open(t *testing.T) *window {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w := &window{t, fmt.Sprintf("docket-screen-%d-%d", os.Getpid(), windows.Add(1)), t.TempDir()}
	run := fmt.Sprintf(`cd '%s'; stty -g > before; echo was here; DOCKET_SCREEN_TEST=show '%s'; stty -g > after; exec sleep 1000`, w.dir, program)
	w.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "50", run)
	socket := w.tmux("display-message", "-p", "#{socket_path}")
	t.Cleanup(func() {
		w.tmux("kill-server")
		os.Remove(socket) // tmux leaves it
	})
	return w
}

func (w *window) tmux(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("tmux", append([]string{"-u", "-L", w.server}, args...)...)
	cmd.Env = append(os.Environ(), "TMUX=")
	out, err := cmd.Output()
	if err != nil {
		w.t.Fatalf("tmux %q: %v", args, err)
	}
	return strings.TrimRight(string(out), "\n")
}

// shows waits until the screen holds the text.
func (w *window) shows(want string) (screen string) {
	w.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); ; {
		if screen = w.tmux("capture-pane", "-p"); strings.Contains(screen, want) {
			return screen
		}
		select {
		case <-tick.C:
		case <-deadline:
			w.t.Fatalf("no %q in\n%s", want, screen)
		}
	}
}

// left checks that the terminal is as it was.
func (w *window) left() {
	w.t.Helper()
	if screen := w.shows("was here"); strings.Contains(screen, "selected") {
		w.t.Errorf("the frame is still there:\n%s", screen)
	}
	mode := func(name string) string {
		var b []byte
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.After(time.Minute); len(b) == 0; {
			b, _ = os.ReadFile(filepath.Join(w.dir, name))
			select {
			case <-tick.C:
			case <-deadline:
				w.t.Fatalf("the program does not end")
			}
		}
		return string(b)
	}
	if before, after := mode("before"), mode("after"); before != after {
		w.t.Errorf("the mode of the terminal was %s and is %s", before, after)
	}
	if flags := w.tmux("display-message", "-p", "#{cursor_flag} #{alternate_on} #{wrap_flag}"); flags != "1 0 1" {
		w.t.Errorf("cursor, other screen and wrapping are %s, want 1 0 1", flags)
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	w := open(t)
	screen := w.shows("selected")
	for _, want := range []string{"漢字|behind", "100x50\n", "acts ?[2J?? not"} {
		if !strings.Contains(screen, want) {
			t.Errorf("no %q in\n%s", want, screen)
		}
	}
	w.tmux("resize-window", "-x", "70", "-y", "9")
	w.shows("70x9")
	w.tmux("send-keys", "Up", "x", "é", "Escape")
	w.shows("keys: up x é esc")
	w.tmux("send-keys", "PageDown", "BSpace", "Enter")
	w.shows("keys: up x é esc pgdn backspace enter")
	w.tmux("set-buffer", "pasted q")
	w.tmux("paste-buffer", "-p")
	w.shows("enter paste")
	w.tmux("send-keys", "q")
	w.left()
}

func TestTerminalAfterPanic(t *testing.T) {
	t.Parallel()
	w := open(t)
	w.shows("selected")
	w.tmux("send-keys", "p")
	w.shows("panic: a bug")
	w.left()
}

func TestNoTerminal(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "DOCKET_SCREEN_TEST=nobody")
	if out, err := cmd.Output(); err != nil || string(out) != "true\n" {
		t.Errorf("got %q, %v", out, err)
	}
}
