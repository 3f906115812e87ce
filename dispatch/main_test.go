package dispatch_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/file"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// TestMain also serves as the other process of the race and crash tests.
func TestMain(m *testing.M) {
	if role := os.Getenv("DOCKET_DISPATCH_CHILD"); role != "" {
		os.Exit(child(role))
	}
	os.Exit(m.Run())
}

// An agent is a harness in memory, whose answer a test decides.
type agent struct {
	mu       sync.Mutex
	got      []adapter.Prompt
	answer   func(p adapter.Prompt) error // nil takes everything
	looks    func(mid string) adapter.Presence
	headless bool
}

func (a *agent) Headless() bool { return a.headless }

func (a *agent) Insert(_ context.Context, p adapter.Prompt) error {
	a.mu.Lock()
	answer := a.answer
	a.mu.Unlock()
	if answer != nil {
		if err := answer(p); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.got = append(a.got, p)
	return nil
}

func (a *agent) Lookup(_ context.Context, mid string) (adapter.Presence, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.looks == nil {
		return adapter.CannotTell, nil
	}
	return a.looks(mid), nil
}

func (a *agent) set(answer func(p adapter.Prompt) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = answer
}

func (a *agent) mids() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var mids []string
	for _, p := range a.got {
		mids = append(mids, p.MID)
	}
	return mids
}

func (a *agent) last() adapter.Prompt {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.got) == 0 {
		return adapter.Prompt{}
	}
	return a.got[len(a.got)-1]
}

func busy(adapter.Prompt) error  { return adapter.ErrBusy }
func vague(adapter.Prompt) error { return errors.New("the line went dead") }

// A world is a store with one agent behind every session.
type world struct {
	t     testing.TB
	dir   string
	store *session.Store
	agent *agent

	buffered bool // nothing is synced: for tests of order, not of power cuts
	*dispatch.Dispatcher
}

// newWorld makes a store with the sessions ids.
func newWorld(t testing.TB, ids ...string) *world {
	w := &world{t: t, dir: t.TempDir(), agent: &agent{}}
	w.reopen(dispatch.Options{})
	for _, id := range ids {
		w.create(id)
	}
	return w
}

// reopen goes on like another process would: with nothing but the files.
func (w *world) reopen(o dispatch.Options) {
	w.t.Helper()
	if w.Dispatcher != nil {
		w.Close()
	}
	store, err := session.OpenStore(w.dir, session.Options{Timeline: timeline.Options{Buffered: w.buffered}})
	must(w.t, err)
	w.store = store
	o.Adapters = w.registry()
	d := dispatch.New(store, o)
	w.Dispatcher = d
	w.t.Cleanup(func() { d.Close() })
}

// registry has the one kind that sessions of a world have.
func (w *world) registry() adapter.Registry {
	return adapter.Registry{{
		Name: "agent",
		Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return w.agent, nil },
	}}
}

// withFile goes on with the file adapter, which other processes share.
func (w *world) withFile() {
	w.t.Helper()
	store, err := session.OpenStore(w.dir, session.Options{})
	must(w.t, err)
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{file.Kind}})
	w.store, w.Dispatcher = store, d
	w.t.Cleanup(func() { d.Close() })
}

func fileAgent(t testing.TB, path string) adapter.Opened {
	t.Helper()
	o, err := adapter.Registry{file.Kind}.Open("file", adapter.Session{ID: "s1", Dir: t.TempDir()}, map[string]string{"path": path})
	must(t, err)
	return o
}

func (w *world) create(id string) {
	w.t.Helper()
	s, err := w.store.Create(w.t.Context(), session.New{ID: id, Adapter: "agent"})
	must(w.t, err)
	must(w.t, s.Release())
}

func (w *world) send(to string, m dispatch.Message) dispatch.Accepted {
	w.t.Helper()
	a, err := w.SendText(w.t.Context(), to, m)
	must(w.t, err)
	return a
}

// later sends without a pass.
func (w *world) later(to, text string) string {
	w.t.Helper()
	return w.send(to, dispatch.Message{Text: text, NoDrain: true}).MID
}

func (w *world) pending(id string) []string {
	w.t.Helper()
	entries, err := w.Pending(w.t.Context(), id)
	must(w.t, err)
	var mids []string
	for _, e := range entries {
		mids = append(mids, e.MID)
	}
	return mids
}

func (w *world) condition(id, mid string) dispatch.Condition {
	w.t.Helper()
	s, err := w.State(w.t.Context(), id, mid)
	must(w.t, err)
	return s.Condition
}

// events reads the public timeline of a session.
func (w *world) events(id string) []timeline.Event {
	w.t.Helper()
	s, err := w.store.Open(id)
	must(w.t, err)
	defer s.Release()
	var events []timeline.Event
	for e, err := range s.Timeline().All(w.t.Context()) {
		must(w.t, err)
		events = append(events, e)
	}
	return events
}

// sent returns the mids of the messages in the timeline.
func (w *world) sent(id string) []string {
	w.t.Helper()
	var mids []string
	for _, e := range w.events(id) {
		if e.Kind == timeline.KindSent {
			mids = append(mids, e.MID)
		}
	}
	return mids
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func wantIs(t testing.TB, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Fatalf("got error %v, want %v", got, want)
	}
}

func wantEqual[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// eventually polls until ok answers true.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}
