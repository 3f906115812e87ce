package opencode_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A desk is a store with one session, for docket as a user runs it.
type desk struct {
	t      *testing.T
	binary string
	store  string
	via    *way
}

// startDesk builds docket and makes the session s1, whose requests take the way.
func startDesk(t *testing.T, o *real) desk {
	t.Helper()
	d := desk{t, filepath.Join(t.TempDir(), "docket"), t.TempDir(), startWay(t, o.url)}
	if out, err := exec.Command("go", "build", "-o", d.binary, "../../cmd/docket").CombinedOutput(); err != nil {
		t.Skipf("docket cannot be built here: %v: %s", err, out)
	}
	d.must("new", "s1", "--adapter", "opencode", "--set", "url="+d.via.http.URL)
	return d
}

// command is docket with these arguments, run by what comes before.
func (d desk) command(ctx context.Context, before []string, args ...string) *exec.Cmd {
	argv := append(append(before, d.binary, "--store", d.store), args...)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "DOCKET_SESSION=", "DOCKET_HOME=")
	return cmd
}

func (d desk) must(args ...string) string {
	d.t.Helper()
	out, err := d.command(d.t.Context(), nil, args...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("docket %q: %v: %s", args, err, out)
	}
	return string(out)
}

// settle makes passes until nothing is owed.
func (d desk) settle() {
	d.t.Helper()
	eventually(d.t, "nothing is owed", func() bool {
		out, err := d.command(d.t.Context(), nil, "drain", "s1").CombinedOutput()
		if err != nil && bytes.Contains(out, []byte("panic")) {
			d.t.Fatalf("drain: %s", out)
		}
		return err == nil
	})
}

// judge fails the test unless the model was asked for these texts, once each and in order.
func (d desk) judge(o *real, texts []string) {
	d.t.Helper()
	o.begun(len(texts))
	o.idle()
	turns := o.turns()
	for i, turn := range turns {
		if i >= len(texts) || !strings.HasPrefix(turn, texts[i]) { // what asks for a note follows
			d.t.Errorf("model: turn %d: got %.80q, want one for each of %q", i, turn, texts)
		}
	}
}

// realKillOfDocket kills docket with SIGKILL before and after every request of a pass, from
// outside, and makes the next pass.
func realKillOfDocket(t *testing.T, o *real) {
	d := startDesk(t, o)
	var texts []string
	died := true
	for n := 0; died; n++ {
		for _, after := range []bool{false, true} {
			text := fmt.Sprintf("killed at request %d, answered %v", n, after)
			texts = append(texts, text)
			d.must("send", "s1", "--no-drain", text)
			died = d.drainAndDie(n, after)
			d.settle()
			d.judge(o, texts)
		}
	}
	if len(texts) < 8 {
		t.Errorf("got a pass of %d requests, want at least the four that it needs", len(texts)/2-1)
	}
}

// drainAndDie makes a pass that is killed at its nth request, and reports whether it
// came so far.
func (d desk) drainAndDie(n int, after bool) (died bool) {
	d.t.Helper()
	cmd := d.command(d.t.Context(), nil, "drain", "s1")
	started := make(chan struct{})
	var reached atomic.Bool
	d.via.watch(func(request int, answered bool) {
		if <-started; request == n && answered == after {
			reached.Store(true)
			_ = cmd.Process.Kill()
		}
	})
	defer d.via.watch(nil)
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	close(started)
	_ = cmd.Wait()
	return reached.Load()
}

// realKillBeforeTheSettlement kills docket at its first write to the timeline after the
// hand-over, which is that of the settlement.
func realKillBeforeTheSettlement(t *testing.T, o *real) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace")
	}
	d := startDesk(t, o)
	var texts []string
	for n := range 5 {
		text := fmt.Sprintf("killed before settlement %d", n)
		texts = append(texts, text)
		d.must("send", "s1", "--no-drain", text)
		timeline := filepath.Join(d.store, "sessions", "s1", "timeline", "000000000001.ndjson")
		trace := []string{"strace", "-f", "-qq", "-o", os.DevNull, "-P", timeline, "-e", "trace=write,pwrite64", "-e", "inject=write,pwrite64:error=EINTR:signal=KILL"}
		out, err := d.command(t.Context(), trace, "drain", "s1").CombinedOutput()
		if err == nil || len(out) > 0 {
			t.Skipf("strace cannot kill here: %v: %s", err, out)
		}
		if owed := d.must("pending", "s1", "--json"); !strings.Contains(owed, text) {
			t.Errorf("pending: got %q, want the message owed still", owed)
		}
		d.judge(o, texts) // opencode has it, and docket does not know
		d.settle()
		d.judge(o, texts)
	}
}
