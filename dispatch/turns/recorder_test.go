//go:build linux || darwin

package turns_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/turns"
	"github.com/docket-go/docket/timeline/turn"
)

// Whatever was sent while a turn was open is handed over after its barrier, one turn a
// message, in order.
func TestQueueAndTurnsJoin(t *testing.T) {
	w, agent := newWorld(t), newFake()
	var barriers []string
	for _, text := range []string{"one", "two", "three"} {
		if a := w.send(text); a.Delivered {
			t.Fatalf("%s: got it delivered, want it owed without a host", text)
		}
	}
	w.serve(only(agent))
	w.record(logged(t), func(o *turns.Options) {
		o.Turns.Barrier = func(_ context.Context, e turn.Event) error {
			barriers = append(barriers, short(e))
			return nil
		}
	})
	w.wants("1.0 started", "1.1 text ack", "1.2 finished success", "2.0 started", "2.1 text ack", "2.2 finished success",
		"3.0 started", "3.1 text ack", "3.2 finished success")
	w.idle()
	if got := agent.got(); !slices.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("got %q at the agent, want them once and in order", got)
	}
	if want := []string{"1.2 finished success", "2.2 finished success", "3.2 finished success"}; !slices.Equal(barriers, want) {
		t.Errorf("got barriers %q, want %q", barriers, want)
	}
	events := w.events()
	if s := events[0].Payload.(turn.Started); s.MID == "" || s.Token != "" {
		t.Errorf("got %+v, want the message's id, and no token for readers", s)
	}
	// The pass takes a message out of the queue once it has the host's answer.
	var owed []dispatch.Debt
	var err error
	eventually(t, func() bool {
		owed, err = w.Pending(t.Context(), "s1")
		return err == nil && len(owed) == 0
	}, func() string { return fmt.Sprintf("got %v, %v owed, want nothing", owed, err) })
}

// The recorder leaves in the middle of a turn, and another comes: no emission is lost
// or doubled, and nothing is dispatched again.
func TestRebind(t *testing.T) {
	w, agent := newWorld(t), newHeld()
	w.serve(only(agent))
	_, leave := w.record()
	w.idle()
	w.send("one")
	to := receive(t, agent.sinks)
	to.Emit(none, host.Text{Text: "a"})
	to.Emit(none, host.Text{Text: "b"})
	w.wants("1.0 started", "1.1 text a", "1.2 text b")
	if err := leave(); err != nil {
		t.Fatal(err)
	}
	to.Emit(none, host.Text{Text: "c"}) // while nobody records
	_, leave = w.record()
	w.wants("1.0 started", "1.1 text a", "1.2 text b", "1.3 text c")
	to.Emit(none, host.Text{Text: "d"})
	w.wants("1.0 started", "1.1 text a", "1.2 text b", "1.3 text c", "1.4 text d")
	if err := leave(); err != nil {
		t.Fatal(err)
	}
	if a := w.send("two"); a.Delivered || !errors.Is(a.Pass, adapter.ErrBlocked) && !errors.Is(a.Pass, adapter.ErrBusy) {
		t.Errorf("got %+v, want it refused without a recorder", a)
	}
	to.Finish(none, success)
	w.record()
	receive(t, agent.sinks).Finish(none, success) // two came after the end of one
	w.wants("1.0 started", "1.1 text a", "1.2 text b", "1.3 text c", "1.4 text d", "1.5 finished success",
		"2.0 started", "2.1 finished success")
	if got := agent.got(); !slices.Equal(got, []string{"one", "two"}) {
		t.Errorf("got %q at the agent, want each once", got)
	}
}

// Without its host the open turn gets one runtime_restart, and is not dispatched
// again.
func TestRuntimeRestart(t *testing.T) {
	w := newWorld(t)
	log, err := turn.Open(t.Context(), w.dir, turn.Options{Buffered: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Start(t.Context(), turn.Started{MID: "m1", Token: "of a dead host"}); err != nil {
		t.Fatal(err)
	}
	log.Close()
	for range 2 {
		r := w.open()
		if err := r.Run(t.Context()); !errors.Is(err, host.ErrNoHost) {
			t.Errorf("got %v, want ErrNoHost", err)
		}
		r.Close()
	}
	w.wants("1.0 started", "1.0 finished interrupted/runtime_restart")
}

// A new host does not know the turn of the one before.
func TestNewHostDoesNotKnowTheTurn(t *testing.T) {
	w, agent := newWorld(t), newFake()
	log, err := turn.Open(t.Context(), w.dir, turn.Options{Buffered: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := log.Start(t.Context(), turn.Started{MID: "m1", Token: "of a dead host"}); err != nil {
		t.Fatal(err)
	}
	log.Close()
	w.serve(only(agent))
	w.record()
	w.wants("1.0 started", "1.0 finished interrupted/runtime_restart")
	w.idle()
	w.send("two")
	w.wants("1.0 started", "1.0 finished interrupted/runtime_restart", "2.0 started", "2.1 text ack", "2.2 finished success")
	if p, err := host.NewClient(w.dir).Lookup(t.Context(), "m1"); p != adapter.CannotTell {
		t.Errorf("Lookup of the interrupted one: got %s, %v, want that it cannot tell", p, err)
	}
}

// A turn that no log holds open is ended, with its program.
func TestTurnThatNoLogKnowsIsEnded(t *testing.T) {
	w, first := newWorld(t), newHeld()
	agents := make(chan *fake, 9)
	agents <- first
	w.serve(func(context.Context, *host.Seat) (host.Agent, error) {
		select {
		case f := <-agents:
			return f, nil
		default:
			return newFake(), nil
		}
	})
	o, err := host.Attach(t.Context(), w.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Ready(""); err != nil {
		t.Fatal(err)
	}
	w.idle()
	sent := make(chan error, 1)
	go func() {
		sent <- host.NewClient(w.dir).Insert(context.Background(), adapter.Prompt{MID: "m0", Text: "x"})
	}()
	n, err := o.Next()
	if _, idle := n.(host.Idle); idle {
		n, err = o.Next()
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Dispatch(n.(host.Offer).Token); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, sent); err != nil {
		t.Fatal(err)
	}
	o.Close()
	w.record()
	<-first.done
	w.idle()
	w.send("after")
	w.wants("1.0 started", "1.1 text ack", "1.2 finished success")
}

// What the log proves is what a look finds, also for prompts of a host that is gone.
func TestLookup(t *testing.T) {
	w := newWorld(t)
	log, err := turn.Open(t.Context(), w.dir, turn.Options{Buffered: true})
	if err != nil {
		t.Fatal(err)
	}
	refused := turn.Diagnostic{Severity: turn.SeverityError, Code: host.CodeSubmitRefused}
	for _, tt := range []struct {
		mid    string
		events []turn.Emission
	}{
		{"spoke", []turn.Emission{turn.Text{Text: "x"}}},
		{"thought", []turn.Emission{turn.Diagnostic{Severity: turn.SeverityInfo}, turn.Thought{}}},
		{"refused", []turn.Emission{refused}},
		{"refused twice", []turn.Emission{refused}},
		{"refused twice", []turn.Emission{refused}},
		{"spoke, then refused", []turn.Emission{turn.Text{Text: "x"}}},
		{"spoke, then refused", []turn.Emission{refused}},
		{"nothing, then refused", nil},
		{"nothing, then refused", []turn.Emission{refused}},
		{"nothing", nil},
	} {
		tn, err := log.Start(t.Context(), turn.Started{MID: tt.mid})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range tt.events {
			if _, err := tn.Emit(t.Context(), turn.Native{}, e); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := tn.SubmitFailed(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
	}
	log.Close()
	w.serve(only(newFake()))
	w.record()
	w.idle()
	for mid, want := range map[string]adapter.Presence{
		"spoke": adapter.Present, "thought": adapter.Present, "refused": adapter.Absent, "nothing": adapter.CannotTell, "never": adapter.Absent,
		"refused twice": adapter.Absent, "spoke, then refused": adapter.Present, "nothing, then refused": adapter.CannotTell,
	} {
		if p, err := host.NewClient(w.dir).Lookup(t.Context(), mid); p != want {
			t.Errorf("Lookup(%s): got %s, %v, want %s", mid, p, err, want)
		}
	}
}

// While the barrier fails the host stays busy; no turn starts.
func TestFailingBarrierHoldsTheNextTurn(t *testing.T) {
	w, agent := newWorld(t), newFake()
	w.serve(only(agent))
	var broken atomic.Bool
	broken.Store(true)
	tries := make(chan struct{}, 1000)
	w.record(func(o *turns.Options) {
		o.Turns.Barrier = func(context.Context, turn.Event) error {
			tries <- struct{}{}
			if broken.Load() {
				return errors.New("not yet")
			}
			return nil
		}
	})
	w.idle()
	w.send("one")
	for range 3 {
		receive(t, tries)
	}
	if a := w.send("two"); a.Delivered || !errors.Is(a.Pass, adapter.ErrBusy) {
		t.Errorf("got %+v, want it owed: busy", a)
	}
	if p, err := host.NewClient(w.dir).Lookup(t.Context(), "never"); p != adapter.Absent || err != nil {
		t.Errorf("Lookup: got %s, %v, want an answer meanwhile", p, err)
	}
	broken.Store(false)
	w.wants("1.0 started", "1.1 text ack", "1.2 finished success", "2.0 started", "2.1 text ack", "2.2 finished success")
}

func TestOneRecorderOnly(t *testing.T) {
	w, agent := newWorld(t), newFake()
	w.serve(only(agent))
	w.record()
	if _, err := turns.Open(t.Context(), w.dir, turns.Options{}); !errors.Is(err, turn.ErrWriter) {
		t.Errorf("second recorder: got %v, want ErrWriter", err)
	}
	w.idle()
	if _, err := host.Attach(t.Context(), w.dir); !errors.Is(err, host.ErrOwned) {
		t.Errorf("second owner: got %v, want ErrOwned", err)
	}
	if _, err := host.Open(host.Options{Session: adapter.Session{Dir: w.dir}, Start: only(agent)}); !errors.Is(err, host.ErrRunning) {
		t.Errorf("second broker: got %v, want ErrRunning", err)
	}
	w.send("one") // nobody was disturbed
	w.wants("1.0 started", "1.1 text ack", "1.2 finished success")
}

// A host of another version is left alone, and so is the turn.
func TestOtherVersionsFailClosed(t *testing.T) {
	for _, welcome := range []string{
		`{"type":"welcome","version":1,"session":"s1","instance":"i"}`, // knows no replay
		`{"type":"welcome","version":2,"replay":1}`,
		`{"type":"welcome","version":1,"replay":2}`,
		`{"type":"welcome","replay":1}`,
	} {
		w := newWorld(t)
		log, err := turn.Open(t.Context(), w.dir, turn.Options{Buffered: true})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := log.Start(t.Context(), turn.Started{MID: "m1", Token: "t"}); err != nil {
			t.Fatal(err)
		}
		log.Close()
		l, err := net.Listen("unix", filepath.Join(w.dir, "host.sock"))
		if err != nil {
			t.Fatal(err)
		}
		said := make(chan string, 9)
		var ended sync.WaitGroup
		ended.Go(func() { old(l, welcome, said) })
		r := w.open()
		if err := r.Run(t.Context()); !errors.Is(err, host.ErrVersion) {
			t.Errorf("%s: Run: got %v, want ErrVersion", welcome, err)
		}
		r.Close()
		err = host.NewClient(w.dir).Insert(t.Context(), adapter.Prompt{MID: "m2"})
		if !errors.Is(err, host.ErrVersion) || !errors.Is(err, adapter.ErrBlocked) {
			t.Errorf("%s: Insert: got %v, want a refusal that is ErrVersion", welcome, err)
		}
		l.Close()
		w.wants("1.0 started")
		ended.Wait()
		close(said)
		for s := range said {
			if s != "" {
				t.Errorf("%s: got %q said to it, want nothing", welcome, s)
			}
		}
	}
}

// old is a host of another version: it says its welcome and hears what is said, twice.
func old(l net.Listener, welcome string, said chan<- string) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		_, _ = c.Write([]byte(welcome + "\n"))
		heard := make([]byte, 1000)
		n, _ := c.Read(heard)
		said <- string(heard[:n])
		c.Close()
	}
}

// Facts about the session are published when they change.
func TestFacts(t *testing.T) {
	w, agent := newWorld(t), newFake()
	seats := make(chan *host.Seat, 1)
	w.serve(func(_ context.Context, s *host.Seat) (host.Agent, error) { seats <- s; return agent, nil })
	_, leave := w.record()
	seat := receive(t, seats)
	seat.Publish(host.State{Name: "native-session", Value: "abc"})
	w.wants("0.0 native-session=abc")
	if err := leave(); err != nil {
		t.Fatal(err)
	}
	r, _ := w.record()
	seat.Publish(host.State{Name: "model", Value: "x"})
	w.wants("0.0 native-session=abc", "0.0 model=x")
	if got := r.State(); len(got) != 2 || got["native-session"] != "abc" {
		t.Errorf("got state %v, want both facts", got)
	}
}

// An interrupted sender leaves nothing undone: the prompt was complete.
func TestSenderThatGivesUp(t *testing.T) {
	w, agent := newWorld(t), newHeld()
	w.serve(only(agent))
	w.record()
	w.idle()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a, err := w.SendText(ctx, "s1", dispatch.Message{Text: "late"}); err == nil && a.Delivered {
		t.Errorf("got %+v, want nothing delivered", a)
	}
	w.send("one")
	receive(t, agent.sinks).Finish(none, success)
	w.idle()
}
