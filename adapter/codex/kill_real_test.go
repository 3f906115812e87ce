//go:build linux || darwin

package codex_test

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
)

// TestRealKillOfCodex kills codex at moments around the storing of a message, and asks
// the next one whether it is there. Each is stored once in the end.
func TestRealKillOfCodex(t *testing.T) {
	t.Parallel()
	d := desk{real: newReal(t)}
	o := codex.Options{Dir: d.home.Work, Store: codex.FileStore{Dir: d.seat.Session.Dir}}
	start := func() (*codex.Agent, *host.Process) {
		p, err := host.Launch(d.process())
		if err != nil {
			t.Fatal(err)
		}
		a, err := codex.Open(t.Context(), p, d.seat, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a, p
	}
	a, p := start()
	found := map[adapter.Presence]int{}
	const asked = -1 // not at a time, but when the model was asked: on a busy machine all others may come too early
	for n, after := range []time.Duration{0, 6, 10, 14, 25, asked} {
		mid := fmt.Sprintf("message-%d", n)
		prompt := adapter.Prompt{MID: mid, Text: mid}
		group := -p.Pid()
		go func() {
			if after == asked {
				d.asked(mid)
			} else {
				<-time.After(after * time.Millisecond)
			}
			_ = syscall.Kill(group, syscall.SIGKILL)
		}()
		err := a.Submit(t.Context(), prompt, hosttest.NewSink())
		hosttest.Receive(t, "the end", a.Done())
		a, p = start()
		there, lookErr := a.Lookup(t.Context(), mid)
		found[there]++
		if lookErr != nil || there == adapter.CannotTell || err == nil && there != adapter.Present || errors.Is(err, adapter.ErrRefused) && there != adapter.Absent {
			t.Errorf("%s: got %v, %v after the answer %v, want the truth", mid, there, lookErr, err)
		}
		if after == asked && there != adapter.Present {
			t.Errorf("%s: got %v of what the model was asked, want it present", mid, there)
		}
		s := hosttest.NewSink()
		if err := a.Submit(t.Context(), prompt, s); err != nil {
			t.Errorf("%s: a second time: %v", mid, err)
		}
		if end := s.End(t); (end.Code == codex.CodeRepeated) != (there == adapter.Present) {
			t.Errorf("%s: got %+v for a message that was %v", mid, end, there)
		}
		if stored, begun := d.stored(mid), len(d.model.Turns()); stored != 1 || begun > n+1 {
			t.Errorf("%s: got it stored %d times, and the model asked %d times, want once", mid, stored, begun)
		}
	}
	t.Logf("found: %v", found)
}
