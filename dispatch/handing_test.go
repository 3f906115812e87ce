package dispatch_test

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/exec"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/debts"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/session"
)

// A slowWorld is a store with a session whose agent is a program that takes what it gets
// until it is told to be done.
type slowWorld struct {
	*world
	taking, goOn string // files: the agent is at it, and may be done
}

func newSlowWorld(t *testing.T) *slowWorld {
	if _, err := osexec.LookPath("sh"); err != nil {
		t.Skip("needs a shell, as the adapter exec does")
	}
	w := &slowWorld{world: newWorld(t), taking: filepath.Join(t.TempDir(), "taking"), goOn: filepath.Join(t.TempDir(), "go")}
	w.Dispatcher.Close()
	w.Dispatcher = dispatch.New(w.store, dispatch.Options{Adapters: adapter.Registry{exec.Kind}})
	t.Cleanup(func() { w.Dispatcher.Close() })
	s, err := w.store.Create(t.Context(), session.New{ID: "s1", Adapter: "exec", Settings: map[string]string{
		"cmd": `cat >/dev/null; echo >'` + w.taking + `'; for i in $(seq 600); do test -e '` + w.goOn + `' && exit; sleep 0.1; done; exit 1`,
	}})
	must(t, err)
	must(t, s.Release())
	return w
}

// begin starts another process that hands over the oldest message, and returns once the
// agent has it.
func (w *slowWorld) begin() *osexec.Cmd {
	w.t.Helper()
	cmd := command(w.t, "drain-1", job{Store: w.dir, Session: "s1"})
	must(w.t, cmd.Start())
	w.t.Cleanup(func() { w.letGo() }) // the agent outlives its pass
	eventually(w.t, "the agent is handed the message", func() bool {
		_, err := os.Stat(w.taking)
		return err == nil
	})
	return cmd
}

func (w *slowWorld) letGo() { must(w.t, os.WriteFile(w.goOn, nil, 0o600)) }

// all checks that everybody who tells where the message is says the same.
func (w *slowWorld) all(mid string, want dispatch.Condition, handing bool) {
	w.t.Helper()
	s, err := w.State(w.t.Context(), "s1", mid)
	must(w.t, err)
	if s.Condition != want || s.Handing != handing {
		w.t.Errorf("State: got %s, handing %v, want %s, %v", s.Condition, s.Handing, want, handing)
	}
	owed, err := w.Pending(w.t.Context(), "s1")
	must(w.t, err)
	if owed[0].MID != mid || owed[0].Condition() != want || owed[0].Handing != handing || owed[0].Claimed.IsZero() {
		w.t.Errorf("Pending: got %+v, want %s, handing %v", owed[0], want, handing)
	}
	if owed[1].Condition() != dispatch.Owed || owed[1].Handing {
		w.t.Errorf("Pending: got %+v, want the one behind it only owed", owed[1])
	}
	survey, err := debts.Take(w.t.Context(), w.store, debts.Options{})
	must(w.t, err)
	unconfirmed := want == dispatch.Unconfirmed
	if d := survey.Oldest[0]; d.MID != mid || d.Handing != handing || d.Unconfirmed != unconfirmed || d.Owed != 2 {
		w.t.Errorf("debts: got %+v, want %s, handing %v", d, want, handing)
	}
	if survey.Handing != count(handing) || survey.Unconfirmed != count(unconfirmed) {
		w.t.Errorf("survey: got %+v, want %s, handing %v", survey, want, handing)
	}
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// While a live pass hands a message over, it is owed for everybody, and nobody has to
// decide. Once the pass is killed, it is unconfirmed at once, though its agent lives.
func TestHandingIsOwedUntilItsPassDies(t *testing.T) {
	w := newSlowWorld(t)
	mid := w.later("s1", "slow")
	w.later("s1", "behind it")
	pass := w.begin()
	w.all(mid, dispatch.Owed, true)
	_, err := w.Confirm(t.Context(), "s1", mid, true)
	wantIs(t, err, dispatch.ErrInFlight)
	wantIs(t, w.Revoke(t.Context(), "s1", mid), dispatch.ErrInFlight)
	w.all(mid, dispatch.Owed, true)
	must(t, pass.Process.Kill())
	if !killed(t, pass.Wait()) {
		t.Fatal("got a pass that ended, want one that was killed")
	}
	w.all(mid, dispatch.Unconfirmed, false)
}

// A pass that ends well leaves nobody in doubt either.
func TestHandingEndsInDelivery(t *testing.T) {
	w := newSlowWorld(t)
	mid := w.later("s1", "slow")
	pass := w.begin()
	w.letGo()
	must(t, pass.Wait())
	s, err := w.State(t.Context(), "s1", mid)
	if err != nil || s.Condition != dispatch.Delivered || s.Handing {
		t.Errorf("got %+v, %v, want it delivered", s, err)
	}
}

// A pass that ends between a look at the queue and one at the lock leaves no false alarm.
func TestOldestSeesThatThePassEnded(t *testing.T) {
	w := newWorld(t, "s1")
	mid := w.later("s1", "one")
	s, err := w.store.Open("s1")
	must(t, err)
	defer s.Release()
	q, err := queue.Open(s.Dir(), queue.Options{})
	must(t, err)
	defer q.Close()
	claim := func() {
		held, err := q.Locks().Record(t.Context())
		must(t, err)
		must(t, q.Claim(held, mid))
		must(t, held.Release())
	}
	refuse := func() {
		held, err := q.Locks().Record(t.Context())
		must(t, err)
		must(t, q.Refused(held, mid, "busy"))
		must(t, held.Release())
	}
	claim()
	d, found, err := dispatch.Oldest(q.Locks(), func() (queue.Entry, bool, error) {
		e, found, err := q.Peek()
		if e.Unconfirmed() {
			refuse() // the pass ends, before the look at the lock
		}
		return e, found, err
	})
	if err != nil || !found || d.Condition() != dispatch.Owed || d.Handing || d.LastError != "busy" {
		t.Errorf("got %+v, %v, %v, want it refused", d, found, err)
	}
	claim()
	held, err := s.Locks().TryDelivery()
	must(t, err)
	if d, _, err := dispatch.Oldest(q.Locks(), q.Peek); err != nil || !d.Handing {
		t.Errorf("got %+v, %v, want it being handed over", d, err)
	}
	must(t, held.Release())
	if d, _, err := dispatch.Oldest(s.Locks(), q.Peek); err != nil || d.Condition() != dispatch.Unconfirmed {
		t.Errorf("got %+v, %v, want it unconfirmed", d, err)
	}
}
