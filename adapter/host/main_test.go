//go:build linux || darwin

package host_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// TestMain also serves as the other process: HOST_TEST_ROLE says as which.
func TestMain(m *testing.M) {
	if role := os.Getenv("HOST_TEST_ROLE"); role != "" {
		os.Exit(child(role))
	}
	os.Exit(m.Run())
}

var success = host.Finished{Outcome: host.Success}

// newDir makes a session directory whose socket needs no other place.
func newDir(t testing.TB) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "host")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(parent) })
	dir := filepath.Join(parent, "s1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// eventually polls until ok, and fails the test if it never is.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	end := time.NewTimer(time.Minute)
	defer end.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("got no end of waiting, want that %s", what)
		}
	}
}

// receive takes a value from a channel, and fails the test if none comes.
func receive[V any](t testing.TB, what string, from <-chan V) V {
	t.Helper()
	select {
	case v, ok := <-from:
		if !ok {
			t.Fatalf("%s: got the end, want a value", what)
		}
		return v
	case <-time.After(time.Minute):
		t.Fatalf("%s: got nothing, want a value", what)
	}
	panic("unreachable")
}

// A fake is an agent without a program.
type fake struct {
	script func(ctx context.Context, p adapter.Prompt, to host.Sink) error // nil answers at once

	mu         sync.Mutex
	prompts    []adapter.Prompt
	sink       host.Sink
	interrupts int
	decisions  []string
	done       chan struct{}
	err        error
}

func newFake() *fake { return &fake{done: make(chan struct{})} }

func (f *fake) Submit(ctx context.Context, p adapter.Prompt, to host.Sink) error {
	f.mu.Lock()
	script := f.script
	f.sink = to
	f.mu.Unlock()
	if script != nil {
		if err := script(ctx, p, to); err != nil {
			return err
		}
	}
	f.mu.Lock()
	f.prompts = append(f.prompts, p)
	f.mu.Unlock()
	if script == nil {
		to.Emit(host.Native{Provider: "fake"}, host.Text{Text: "ack " + p.MID})
		to.Finish(host.Native{}, success)
	}
	return nil
}

func (f *fake) Interrupt(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.interrupts++
	return nil
}

func (f *fake) Decide(_ context.Context, permission, option string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.decisions = append(f.decisions, permission+"="+option)
	return nil
}

func (f *fake) Done() <-chan struct{} { return f.done }

func (f *fake) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *fake) Close() error { f.die(nil); return nil }

// die ends the program, by itself if err is set.
func (f *fake) die(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	select {
	case <-f.done:
	default:
		f.err = err
		close(f.done)
	}
}

func (f *fake) set(script func(ctx context.Context, p adapter.Prompt, to host.Sink) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script = script
}

func (f *fake) received() []adapter.Prompt {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.prompts)
}

// only returns a Starter that always gives the same agent.
func only(a host.Agent) host.Starter {
	return func(context.Context, *host.Seat) (host.Agent, error) { return a, nil }
}

// serve runs a broker until the end of the test or until stop is called, which
// returns what Serve did.
func serve(t testing.TB, dir string, start host.Starter, set ...func(*host.Options)) (stop func() error) {
	t.Helper()
	o := host.Options{Session: adapter.Session{ID: "s1", Dir: dir}, Start: start, FirstBackoff: -1}
	for _, f := range set {
		f(&o)
	}
	b, err := host.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- b.Serve(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-served:
			return err
		case <-time.After(time.Minute):
			return errors.New("Serve does not end")
		}
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Errorf("Serve: got %v, want nil", err)
		}
	})
	return stop
}

// A desk is a recorder that keeps what it gets in memory.
type desk struct {
	owner *host.Owner
	asks  func(host.Offer) error             // an error rejects; nil takes everything
	find  func(mid string) adapter.Presence  // nil knows nothing
	stall func(e host.Emission) (ready bool) // called for each emission; nil is always ready

	mu    sync.Mutex
	got   []host.Emission
	facts []string
	ended chan struct{} // closed at the end of the connection
	err   error
}

// attach makes a desk of a new connection, as soon as the one before has ended.
func attach(t testing.TB, dir string) *host.Owner {
	t.Helper()
	var o *host.Owner
	eventually(t, "a recorder can attach", func() bool {
		var err error
		if o, err = host.Attach(t.Context(), dir); err != nil && !errors.Is(err, host.ErrOwned) {
			t.Fatal(err)
		}
		return err == nil
	})
	t.Cleanup(func() { o.Close() })
	return o
}

// record attaches a desk that is ready at once and records everything.
func record(t testing.TB, dir string, set ...func(*desk)) *desk {
	t.Helper()
	d := &desk{owner: attach(t, dir), ended: make(chan struct{})}
	for _, f := range set {
		f(d)
	}
	if err := d.owner.Ready(d.owner.Attachment().Token); err != nil {
		t.Fatal(err)
	}
	go d.run()
	if d.owner.Attachment().Token == "" {
		eventually(t, "the recorder is ready", func() bool {
			s, _ := host.NewClient(dir).Probe(t.Context())
			return s != adapter.Busy
		})
	}
	return d
}

func (d *desk) run() {
	defer close(d.ended)
	for d.err == nil {
		var n host.Notice
		if n, d.err = d.owner.Next(); d.err == nil {
			d.err = d.take(n)
		}
	}
}

func (d *desk) take(n host.Notice) error {
	switch n := n.(type) {
	case host.Offer:
		if d.asks != nil {
			if err := d.asks(n); err != nil {
				return d.owner.Reject(n.Token, err)
			}
		}
		return d.owner.Dispatch(n.Token)
	case host.Emission:
		d.mu.Lock()
		d.got = append(d.got, n)
		d.mu.Unlock()
		ready := d.stall == nil || d.stall(n)
		if _, terminal := n.Value.(host.Finished); terminal && ready {
			return errors.Join(d.owner.Ack(n.Token, n.N), d.owner.Ready(n.Token))
		}
	case host.Fact:
		d.mu.Lock()
		d.facts = append(d.facts, n.Name+"="+n.Value)
		d.mu.Unlock()
	case host.Question:
		p := adapter.Absent
		if d.find != nil {
			p = d.find(n.MID)
		}
		return d.owner.Answer(n, p)
	}
	return nil
}

func (d *desk) emissions() []host.Emission {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.got)
}

// wait returns what the desk got once it is n emissions, each in short.
func (d *desk) wait(t testing.TB, n int) []string {
	t.Helper()
	eventually(t, fmt.Sprintf("%d emissions are recorded", n), func() bool { return len(d.emissions()) >= n })
	return short(d.emissions())
}

// short says of each emission what it is.
func short(all []host.Emission) (said []string) {
	for _, e := range all {
		switch v := e.Value.(type) {
		case host.Text:
			said = append(said, fmt.Sprintf("%d text %.20s", e.N, v.Text))
		case host.Permission:
			said = append(said, fmt.Sprintf("%d permission %s %s", e.N, v.ID, v.State))
		case host.Diagnostic:
			said = append(said, fmt.Sprintf("%d diagnostic %s", e.N, v.Code))
		case host.Finished:
			said = append(said, fmt.Sprintf("%d finished %s/%s", e.N, v.Outcome, v.Code))
		default:
			said = append(said, fmt.Sprintf("%d %T", e.N, v))
		}
	}
	return said
}

func equal(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func prompt(mid string) adapter.Prompt {
	return adapter.Prompt{MID: mid, Session: "s1", Text: "text of " + mid}
}

// insert hands a prompt over and fails the test unless the answer is want.
func insert(t testing.TB, dir string, p adapter.Prompt, want adapter.Answer) error {
	t.Helper()
	err := host.NewClient(dir).Insert(t.Context(), p)
	if got := adapter.AnswerOf(err); got != want {
		t.Fatalf("Insert(%s): got %s, %v, want %s", p.MID, got, err, want)
	}
	return err
}

// idle waits until the host takes a prompt.
func idle(t testing.TB, dir string) {
	t.Helper()
	eventually(t, "the host is idle", func() bool {
		s, _ := host.NewClient(dir).Probe(t.Context())
		return s == adapter.Idle
	})
}

func isEOF(err error) bool { return errors.Is(err, io.EOF) }

// A clock moves only when it is told to.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 11, 30, 9, 30, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// slow makes the agent take a prompt only when it is released.
func slow(sinks chan<- host.Sink, release <-chan struct{}) func(context.Context, adapter.Prompt, host.Sink) error {
	return func(_ context.Context, _ adapter.Prompt, to host.Sink) error {
		sinks <- to
		<-release
		return nil
	}
}

// resources returns the numbers of goroutines and of open descriptors.
func resources(t *testing.T) [2]int {
	t.Helper()
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return [2]int{runtime.NumGoroutine(), len(open)}
}
