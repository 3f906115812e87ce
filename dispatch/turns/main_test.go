//go:build linux || darwin

package turns_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/turns"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

// TestMain also serves as the other process: TURNS_TEST_JOB says what it does.
func TestMain(m *testing.M) {
	if job := os.Getenv("TURNS_TEST_JOB"); job != "" {
		os.Exit(child(job))
	}
	if judge := os.Getenv("TURNS_TEST_JUDGE"); judge != "" {
		os.Exit(program(judge))
	}
	os.Exit(m.Run())
}

var (
	success = host.Finished{Outcome: host.Success}
	none    = host.Native{}
)

// A world is a store with the session s1 and what serves it.
type world struct {
	t    testing.TB
	root string
	dir  string // of s1
	*session.Session
	*dispatch.Dispatcher
}

var registry = adapter.Registry{host.KindOf("host", "hands prompts to the session's host")}

func openStore(root string) (*session.Store, error) {
	return session.OpenStore(root, session.Options{Timeline: timeline.Options{Buffered: true}})
}

func newWorld(t testing.TB) *world {
	t.Helper()
	root, err := os.MkdirTemp("", "turns")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(root) })
	store, err := openStore(root)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Create(t.Context(), session.New{ID: "s1", Adapter: "host"})
	if err != nil {
		t.Fatal(err)
	}
	d := dispatch.New(store, dispatch.Options{Adapters: registry})
	t.Cleanup(func() { d.Close(); s.Release() })
	return &world{t, root, filepath.Join(root, "sessions", "s1"), s, d}
}

// serve runs a broker with the agent until stop is called or the test ends.
func (w *world) serve(start host.Starter, set ...func(*host.Options)) (stop func()) {
	w.t.Helper()
	o := host.Options{Session: adapter.Session{ID: "s1", Dir: w.dir, Store: w.root}, Start: start, FirstBackoff: -1}
	for _, f := range set {
		f(&o)
	}
	b, err := host.Open(o)
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Serve(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("Serve: got %v, want nil", err)
		}
	})
	w.t.Cleanup(stop)
	return stop
}

func (w *world) open(set ...func(*turns.Options)) *turns.Recorder {
	w.t.Helper()
	o := turns.Options{Turns: turn.Options{Buffered: true}, Drain: w.pass, Retry: time.Millisecond}
	for _, f := range set {
		f(&o)
	}
	r, err := turns.Open(w.t.Context(), w.dir, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) pass(ctx context.Context) error {
	_, err := w.Drain(ctx, "s1", dispatch.DrainOptions{})
	return err
}

// record runs a recorder until stop is called or the test ends; stop returns what
// Run did.
func (w *world) record(set ...func(*turns.Options)) (r *turns.Recorder, stop func() error) {
	w.t.Helper()
	r = w.open(set...)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		err := <-done
		return errors.Join(err, r.Close())
	})
	w.t.Cleanup(func() { stop() })
	return r, stop
}

// send accepts a message and leaves its delivery to the recorder's passes and its own.
func (w *world) send(text string) dispatch.Accepted {
	w.t.Helper()
	a, err := w.SendText(w.t.Context(), "s1", dispatch.Message{Text: text})
	if err != nil {
		w.t.Fatal(err)
	}
	return a
}

// later accepts a message and leaves its delivery to the recorder's passes.
func (w *world) later(text string) (mid string) {
	w.t.Helper()
	a, err := w.SendText(w.t.Context(), "s1", dispatch.Message{Text: text, NoDrain: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return a.MID
}

// history returns the turn log as a reader in another process sees it, in short.
func (w *world) history() (all []string) {
	w.t.Helper()
	for _, e := range w.events() {
		all = append(all, short(e))
	}
	return all
}

func (w *world) events() (all []turn.Event) {
	w.t.Helper()
	l, err := turn.Read(w.dir, turn.ReadOptions{})
	if err != nil {
		w.t.Fatal(err)
	}
	from, err := l.Start(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	for e, err := range l.History(w.t.Context(), from) {
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func short(e turn.Event) string {
	said := fmt.Sprintf("%d.%d ", e.TurnNumber(), e.Native.Broker)
	switch p := e.Payload.(type) {
	case turn.Started:
		return said + "started"
	case turn.Text:
		return said + "text " + p.Text
	case turn.Permission:
		return said + "permission " + p.ID + " " + string(p.State)
	case turn.Diagnostic:
		return said + "diagnostic " + p.Code
	case turn.State:
		return said + p.Name + "=" + p.Value
	case turn.Finished:
		return said + "finished " + p.String()
	}
	return said + fmt.Sprintf("%T", e.Payload)
}

// wants waits until the log is what it should be.
func (w *world) wants(want ...string) {
	w.t.Helper()
	eventually(w.t, func() bool { return len(w.history()) >= len(want) }, func() string {
		return fmt.Sprintf("got log %q, want %q", w.history(), want)
	})
	if got := w.history(); !slices.Equal(got, want) {
		w.t.Errorf("got log %q, want %q", got, want)
	}
}

func eventually(t testing.TB, ok func() bool, otherwise func() string) {
	t.Helper()
	end := time.NewTimer(time.Minute)
	defer end.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatal(otherwise())
		}
	}
}

func (w *world) idle() {
	w.t.Helper()
	var s adapter.State
	var err error
	eventually(w.t, func() bool {
		s, err = host.NewClient(w.dir).Probe(w.t.Context())
		return s == adapter.Idle
	}, func() string { return fmt.Sprintf("got a host that is %s, %v, want it idle", s, err) })
}

// A fake is an agent without a program. Its sinks come to the test, unless it
// answers by itself.
type fake struct {
	sinks chan host.Sink
	mu    sync.Mutex
	texts []string
	done  chan struct{}
	once  sync.Once
}

func newFake() *fake { return &fake{done: make(chan struct{})} }

func newHeld() *fake { return &fake{done: make(chan struct{}), sinks: make(chan host.Sink, 99)} }

func (f *fake) Submit(_ context.Context, p adapter.Prompt, to host.Sink) error {
	f.mu.Lock()
	first, _, _ := strings.Cut(p.Text, "\n") // behind it stands how to reply
	f.texts = append(f.texts, first)
	f.mu.Unlock()
	if f.sinks != nil {
		f.sinks <- to
		return nil
	}
	to.Emit(none, host.Text{Text: "ack"})
	to.Finish(none, success)
	return nil
}

func (f *fake) got() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.texts)
}

func (f *fake) Interrupt(context.Context) error              { return nil }
func (f *fake) Decide(context.Context, string, string) error { return nil }
func (f *fake) Done() <-chan struct{}                        { return f.done }
func (f *fake) Err() error                                   { return nil }
func (f *fake) Close() error                                 { f.once.Do(func() { close(f.done) }); return nil }

func only(a host.Agent) host.Starter {
	return func(context.Context, *host.Seat) (host.Agent, error) { return a, nil }
}

func receive[V any](t testing.TB, from <-chan V) V {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(time.Minute):
		t.Fatal("got nothing, want a value")
	}
	panic("unreachable")
}

// logged returns an option that sends what the recorder logs to the test.
func logged(t testing.TB) func(*turns.Options) {
	return func(o *turns.Options) { o.Logger = slog.New(slog.NewTextHandler(t.Output(), nil)) }
}
