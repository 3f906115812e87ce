package debts_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/debts"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A world is a store whose agents answer as the session's name says.
type world struct {
	t     testing.TB
	store *session.Store
	*dispatch.Dispatcher
	now time.Time
}

func newWorld(t testing.TB, ids ...string) *world {
	t.Helper()
	store, err := session.OpenStore(t.TempDir(), session.Options{Timeline: timeline.Options{Buffered: true}})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: store, now: time.UnixMilli(1_800_000_000_000).UTC()}
	w.Dispatcher = dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "agent",
		Open: func(s adapter.Session, _ map[string]string) (adapter.Adapter, error) { return agent(s.ID), nil },
	}}, Now: func() time.Time { return w.now }})
	t.Cleanup(func() { w.Close() })
	for _, id := range ids {
		s, err := store.Create(t.Context(), session.New{ID: id, Adapter: "agent"})
		if err != nil {
			t.Fatal(err)
		}
		s.Release()
	}
	return w
}

// An agent is busy, does not answer, or takes what it gets.
type agent string

func (agent) Headless() bool { return false }

func (a agent) Insert(context.Context, adapter.Prompt) error {
	switch a {
	case "busy":
		return adapter.ErrBusy
	case "vague":
		return errors.New("the line went dead")
	}
	return nil
}

// send accepts a message, a minute after the last one.
func (w *world) send(id string) (mid string) {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	a, err := w.SendText(w.t.Context(), id, dispatch.Message{Text: "go", NoDrain: id == "later"})
	if err != nil {
		w.t.Fatal(err)
	}
	return a.MID
}

func (w *world) take(o debts.Options) debts.Survey {
	w.t.Helper()
	s, err := debts.Take(w.t.Context(), w.store, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func sessions(ds []debts.Debt) (ids []string) {
	for _, d := range ds {
		ids = append(ids, d.Session)
	}
	return ids
}

func TestSurveyCountsWhatIsOwed(t *testing.T) {
	w := newWorld(t, "idle", "taken", "busy", "vague", "later", "corrupt")
	first := w.send("busy")
	w.send("busy")
	w.send("taken")
	unsure := w.send("vague")
	w.send("later")
	w.send("later")
	s, err := w.store.Open("corrupt")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(filepath.Join(s.Dir(), "pending.json"), []byte("{]"), 0o600), s.Release()); err != nil {
		t.Fatal(err)
	}
	got := w.take(debts.Options{})
	if got.Sessions != 6 || got.Owing != 3 || got.Owed != 5 || got.Unconfirmed != 1 || got.Unreadable != 1 {
		t.Errorf("got %+v, want 6 sessions, 3 that owe 5, 1 unconfirmed, 1 unreadable", got)
	}
	if ids := sessions(got.Oldest); !slices.Equal(ids, []string{"busy", "vague", "later"}) {
		t.Errorf("got the oldest in %v, want busy, vague, later", ids)
	}
	busy, vague := got.Oldest[0], got.Oldest[1]
	if busy.MID != first || busy.Owed != 2 || busy.Attempts != 2 || busy.LastError == "" || busy.Unconfirmed {
		t.Errorf("got %+v, want the first of two messages, refused twice", busy)
	}
	if age := busy.Age(w.now.Add(time.Minute)); age != 6*time.Minute {
		t.Errorf("got age %v, want 6m", age)
	}
	if vague.MID != unsure || !vague.Unconfirmed || vague.Claimed.IsZero() {
		t.Errorf("got %+v, want it unconfirmed, and since when", vague)
	}
}

// A store that does not exist has no sessions, and is not made.
func TestSurveyOfNoStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	store, err := session.OpenStore(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := debts.Take(t.Context(), store, debts.Options{}); err != nil || s.Sessions != 0 {
		t.Errorf("got %+v, %v, want nothing", s, err)
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want no store made", err)
	}
}

// However many owe something, only so many are kept, and those are the oldest.
func TestSurveyKeepsTheOldest(t *testing.T) {
	var ids []string
	for i := range 20 {
		ids = append(ids, fmt.Sprintf("later%02d", i))
	}
	w := newWorld(t, ids...)
	order := []int{7, 3, 19, 0, 11, 5}
	for _, i := range order {
		w.now = w.now.Add(time.Minute)
		if _, err := w.SendText(t.Context(), ids[i], dispatch.Message{Text: "go", NoDrain: true}); err != nil {
			t.Fatal(err)
		}
	}
	for oldest, want := range map[int][]string{
		0: {"later07", "later03", "later19", "later00", "later11", "later05"}, 2: {"later07", "later03"}, -1: nil,
	} {
		if got := sessions(w.take(debts.Options{Oldest: oldest}).Oldest); !slices.Equal(got, want) {
			t.Errorf("Oldest %d: got %v, want %v", oldest, got, want)
		}
	}
}

// The end of the context ends it.
func TestSurveyIsCalledOff(t *testing.T) {
	w := newWorld(t, "idle")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := debts.Take(ctx, w.store, debts.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that it was called off", err)
	}
}

// What a look at a large store costs in which nothing is owed.
func BenchmarkTake(b *testing.B) {
	root := filepath.Join(b.TempDir(), "sessions")
	for i := range 10_000 {
		if err := os.MkdirAll(filepath.Join(root, fmt.Sprint("s", i)), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	store, err := session.OpenStore(filepath.Dir(root), session.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if s, err := debts.Take(b.Context(), store, debts.Options{}); err != nil || s.Sessions != 10_000 {
			b.Fatal(s, err)
		}
	}
}

func Example() {
	dir, _ := os.MkdirTemp("", "store")
	defer os.RemoveAll(dir)
	store, _ := session.OpenStore(dir, session.Options{})
	s, _ := store.Create(context.Background(), session.New{ID: "worker-1"})
	s.Release()
	d := dispatch.New(store, dispatch.Options{})
	defer d.Close()
	d.SendText(context.Background(), "worker-1", dispatch.Message{Text: "run the tests"})
	survey, err := debts.Take(context.Background(), store, debts.Options{})
	fmt.Println(survey.Owed, "owed to", survey.Owing, "of", survey.Sessions, "sessions", err)
	fmt.Println("the oldest:", survey.Oldest[0].Session)
	// Output:
	// 1 owed to 1 of 1 sessions <nil>
	// the oldest: worker-1
}
