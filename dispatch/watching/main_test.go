package watching_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

const childEnv = "DOCKET_WATCHING_CHILD"

// TestMain also serves as the other process of the race and crash tests.
func TestMain(m *testing.M) {
	if content := os.Getenv(childEnv); content != "" {
		os.Exit(child([]byte(content)))
	}
	os.Exit(m.Run())
}

// A job is what the other process does.
type job struct {
	Store string
	Does  string // declare, tell, watch, unwatch, or flicker: the last two by turns
	ID    string
	By    string
	Notes []string
	DieAt int    // kill -9 itself at the n-th step; 0 means never
	DieOn string // or at the step of that name
}

func child(content []byte) int {
	var j job
	err := json.Unmarshal(content, &j)
	if err == nil {
		err = j.run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, j.Does, err)
		return 1
	}
	return 0
}

func (j job) run(ctx context.Context) error {
	store, err := session.OpenStore(j.Store, session.Options{})
	if err != nil {
		return err
	}
	if j.DieAt > 0 || j.DieOn != "" {
		var seen atomic.Int64 // passes take their steps at the same time
		step.Hook(func(name string) {
			if n := seen.Add(1); n == int64(j.DieAt) || name == j.DieOn {
				fmt.Println(name)
				killSelf()
			}
		})
	}
	d := dispatch.New(store, dispatch.Options{})
	defer d.Close()
	w := watching.New(store, d, watching.Options{})
	switch j.Does {
	case "watch":
		_, err = w.Add(ctx, j.ID, watching.Request{By: j.By})
	case "unwatch":
		if err = w.Remove(ctx, j.ID, j.By); err == nil {
			_, err = w.Tell(ctx, j.ID, watching.TellOptions{})
		}
	case "flicker":
		for i := 0; i < 20 && err == nil; i++ {
			if _, err = w.Add(ctx, j.ID, watching.Request{By: j.By}); err == nil {
				err = w.Remove(ctx, j.ID, j.By)
			}
		}
	case "tell":
		_, err = w.Tell(ctx, j.ID, watching.TellOptions{})
	case "declare":
		err = j.declare(ctx, store, w)
	}
	return err
}

func (j job) declare(ctx context.Context, store *session.Store, w *watching.Watches) error {
	s, err := store.Open(j.ID)
	if err != nil {
		return err
	}
	defer s.Release()
	for _, note := range j.Notes {
		if _, err := s.Declare(ctx, session.Declaration{Status: session.StatusIdle, Note: note}); err != nil {
			return err
		}
		if _, err := w.Tell(ctx, j.ID, watching.TellOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func killSelf() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}

// A world is a store, in which everything stays owed, with its watches.
type world struct {
	t     testing.TB
	dir   string
	store *session.Store
	*dispatch.Dispatcher
	w *watching.Watches

	buffered bool
	maxText  int
	open     map[string]*session.Session
}

func newWorld(t testing.TB, ids ...string) *world {
	w := &world{t: t, dir: t.TempDir(), open: map[string]*session.Session{}}
	w.start()
	for _, id := range ids {
		w.create(id)
	}
	return w
}

// start goes on like another process would: with nothing but the files.
func (w *world) start() {
	w.t.Helper()
	store, err := session.OpenStore(w.dir, session.Options{Timeline: timeline.Options{Buffered: w.buffered, MaxTextBytes: w.maxText}})
	must(w.t, err)
	d := dispatch.New(store, dispatch.Options{})
	w.store, w.Dispatcher = store, d
	w.w = watching.New(store, d, watching.Options{})
	w.t.Cleanup(func() { d.Close() })
}

func (w *world) create(id string) {
	w.t.Helper()
	s, err := w.store.Create(w.t.Context(), session.New{ID: id})
	must(w.t, err)
	must(w.t, s.Release())
}

func (w *world) in(id string, do func(s *session.Session) error) {
	w.t.Helper()
	s, err := w.store.Open(id)
	must(w.t, err)
	must(w.t, errors.Join(do(s), s.Release()))
}

func (w *world) close(id string) {
	w.t.Helper()
	w.in(id, func(s *session.Session) error { return s.Close(w.t.Context()) })
}

// declare declares idle with a note, or with status and proposal too.
func (w *world) declare(id, note string, words ...string) {
	w.t.Helper()
	d := session.Declaration{Status: session.StatusIdle, Note: note}
	if len(words) > 0 {
		d.Status = words[0]
	}
	if len(words) > 1 {
		d.Proposal = words[1]
	}
	w.in(id, func(s *session.Session) error {
		_, err := s.Declare(w.t.Context(), d)
		return err
	})
}

func (w *world) watch(id, by string) {
	w.t.Helper()
	w.request(id, watching.Request{By: by})
}

func (w *world) request(id string, q watching.Request) watching.Watch {
	w.t.Helper()
	a, err := w.w.Add(w.t.Context(), id, q)
	must(w.t, err)
	return a
}

func (w *world) unwatch(id, by string) {
	w.t.Helper()
	must(w.t, w.w.Remove(w.t.Context(), id, by))
}

func (w *world) tell(id string) watching.Told {
	w.t.Helper()
	told, err := w.w.Tell(w.t.Context(), id, watching.TellOptions{})
	must(w.t, err)
	return told
}

// watchers returns who watches, those whose watch is ending with a "-" behind.
func (w *world) watchers(id string) (ids []string) {
	w.t.Helper()
	all, err := w.w.List(id)
	must(w.t, err)
	for _, x := range all {
		if x.Ending {
			x.By += "-"
		}
		ids = append(ids, x.By)
	}
	return ids
}

func (w *world) pending(id string) []dispatch.Debt {
	w.t.Helper()
	entries, err := w.Pending(w.t.Context(), id)
	must(w.t, err)
	return entries
}

// events reads the public timeline of a session.
func (w *world) events(id string) (events []timeline.Event) {
	w.t.Helper()
	w.in(id, func(s *session.Session) error {
		for e, err := range s.Timeline().All(w.t.Context()) {
			if err != nil {
				return err
			}
			events = append(events, e)
		}
		return nil
	})
	return events
}

// notes returns the notes of the declarations that a session was told of, in order.
// Each message must be there once, and owed.
func (w *world) notes(id string) (notes []string) {
	w.t.Helper()
	var mids, owed []string
	for _, e := range w.events(id) {
		if e.Kind == timeline.KindSent {
			mids, notes = append(mids, e.MID), append(notes, noteIn(w.t, e.Text))
		}
	}
	for _, e := range w.pending(id) {
		owed = append(owed, e.MID)
	}
	if !slices.Equal(owed, mids) {
		w.t.Fatalf("%s is owed %v, and was sent %v", id, owed, mids)
	}
	return notes
}

// file is the path of the list of who watches id.
func (w *world) file(id string) string { return filepath.Join(w.dir, "sessions", id, "watchers.json") }

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
