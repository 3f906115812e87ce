//go:build linux || darwin

package codex_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
)

// A desk is docket with a host for the real codex: see testdata/desk.
type desk struct {
	*real
	binary, store string
}

func newDesk(t *testing.T, binary string) desk {
	t.Helper()
	d := desk{newReal(t), binary, t.TempDir()}
	d.must("new")
	return d
}

// buildDesk builds the program, once for all that use it.
func buildDesk(t *testing.T) string {
	t.Helper()
	if _, err := realagent.Codex.Find(); err != nil {
		t.Skip(err)
	}
	binary := filepath.Join(t.TempDir(), "desk")
	if out, err := exec.Command("go", "build", "-o", binary, "./testdata/desk").CombinedOutput(); err != nil {
		t.Fatalf("build the test program: %v: %s", err, out)
	}
	return binary
}

func (d desk) command(die, gate string, args ...string) *exec.Cmd {
	cmd := d.home.Command(args...)
	cmd.Path, cmd.Args[0] = d.binary, d.binary
	cmd.Env = append(cmd.Env, "DESK_STORE="+d.store, "DESK_CODEX="+d.home.Path, "DESK_WORK="+d.home.Work, "DESK_DIE="+die, "DESK_GATE="+gate)
	return cmd
}

func (d desk) must(args ...string) string {
	d.t.Helper()
	out, err := d.command("", "", args...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("desk %q: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// A process is a host that runs.
type process struct {
	cmd  *exec.Cmd
	said *strings.Builder // read it after done
	done chan struct{}
}

// host starts the host, which kills itself at that step, once the file gate is there.
func (d desk) host(die, gate string) process {
	d.t.Helper()
	p := process{d.command(die, gate, "host"), &strings.Builder{}, make(chan struct{})}
	p.cmd.Stderr, p.cmd.WaitDelay = p.said, time.Second
	if err := p.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	d.t.Cleanup(p.kill)
	return p
}

// kill is kill -9 of the host alone. Codex finds the end of its input.
func (p process) kill() {
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop has the host end, with codex.
func (p process) stop(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	hosttest.Receive(t, "the end of the host", p.done)
	if code := p.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("got a host that ends with %d, %s, want 0", code, p.said)
	}
}

// settled waits until nothing is owed and no turn is at work.
func (d desk) settled() {
	d.t.Helper()
	end := time.After(realPatience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for d.must("open") != "0 0" {
		select {
		case <-tick.C:
		case <-end:
			d.t.Fatal("got a message that stays owed, want it settled")
		}
	}
}

// stored returns how often codex has stored a text as a message, as its own files say.
func (d desk) stored(text string) (n int) {
	d.t.Helper()
	err := filepath.WalkDir(filepath.Join(d.home.Dir, ".codex", "sessions"), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // a codex that was killed early makes none
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		for line := range strings.Lines(string(data)) {
			if strings.Contains(line, `"UserMessage"`) && strings.Contains(line, `"client_id":"docket-`) && strings.Contains(line, text) {
				n++
			}
		}
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return n
}

// die has a host take a text and kill itself at a step, or only when the model was asked.
func (d desk) die(step, text string, asked bool) {
	d.t.Helper()
	d.must("send", text)
	gate := ""
	if asked {
		gate = filepath.Join(d.t.TempDir(), "gate")
	}
	dying := d.host(step, gate)
	if asked {
		d.asked(text)
		if err := os.WriteFile(gate, nil, 0o600); err != nil {
			d.t.Fatal(err)
		}
	}
	select {
	case <-dying.done:
	case <-time.After(realPatience):
		d.t.Fatalf("%s: got a host that lives, want it dead", step)
	}
}

// begun returns how often the model was asked for a text.
func (d desk) begun(text string) (n int) {
	for _, turn := range d.model.Turns() {
		if turn == text || strings.HasPrefix(turn, text+"\n") { // what asks for a note follows
			n++
		}
	}
	return n
}

// TestRealKillOfTheHost kills the host, which is docket, too, with SIGKILL between every
// two steps from the claim of a message to its settlement, and starts it again. Codex
// has each message once, and its model was asked for it once.
func TestRealKillOfTheHost(t *testing.T) {
	t.Parallel()
	d := newDesk(t, buildDesk(t))
	for n, tt := range []struct {
		step  string
		asked bool // the model was, before the host dies
		owed  string
	}{
		{"queue: claimed", false, "1 0"},
		{"dispatch/turns: started", false, "1 1"},
		{"adapter/codex: message is new", false, "1 1"},
		{"adapter/codex: message is sent", false, "1 1"},
		{"adapter/codex: message is answered for", true, "1 1"},
		{"queue: inserted", true, "1 1"},
		{"queue: end recorded", true, "0 1"},
	} {
		text := fmt.Sprintf("message %d", n)
		if tt.asked {
			text += " [[wait for ever]]" // so that the turn is at work
		}
		d.die(tt.step, text, tt.asked)
		if got := d.must("open"); got != tt.owed {
			t.Errorf("%s: got %s owed and at work, want %s", tt.step, got, tt.owed)
		}
		before := d.stored(text)
		again := d.host("", "")
		d.settled()
		again.stop(t)
		stored, begun := d.stored(text), d.begun(text)
		t.Logf("%s: stored %d before, then %d; the model was asked %d times", tt.step, before, stored, begun)
		// Codex may be killed itself after it has stored the message and before it asks.
		if once := begun == 1 || begun == 0 && before == 1 && !tt.asked; stored != 1 || !once {
			t.Errorf("%s: got it stored %d times and the model asked %d times, want once: %s", tt.step, stored, begun, again.said)
		}
	}
}

// TestRealStoreHoldsNoOutput has a command make a secret that nobody wrote: the model
// gets it, and no file of the store does.
func TestRealStoreHoldsNoOutput(t *testing.T) {
	t.Parallel()
	d := newDesk(t, buildDesk(t))
	d.must("send", `[[tool exec_command {"cmd":"echo PLANTED-$((40+2))"}]]`)
	h := d.host("", "")
	d.settled()
	h.stop(t)
	given := false
	for _, q := range d.model.Requests() {
		given = given || strings.Contains(string(q.Body), "PLANTED-42")
	}
	if !given {
		t.Error("got no output at the model, want the command run")
	}
	err := filepath.WalkDir(d.store, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "PLANTED-42") {
			t.Errorf("%s: got the output of a command in it", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
