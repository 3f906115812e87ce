package feed

import (
	"context"
	"errors"
	"path"
	"runtime"
	"sync"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/top"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/watch"
)

const (
	turnSize  = 256                    // sessions that are looked at in one turn
	turnPause = 100 * time.Millisecond // between two turns, once all were looked at
	restShare = 4                      // and at least so many times as long as a turn took
)

// Follow sends what the sessions are at: of all of them first, in turns, and then of
// those that change, until ctx ends, which is no error. Send waits until it was taken.
// It returns an error of listing the store, or a bad pattern, in the words of people.
func (f *Feed) Follow(ctx context.Context, visible func() []string, send func(top.Batch)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	t := &tracker{
		feed: f, set: watch.NewSet(f.options.Poll), bell: make(chan struct{}, 1), visible: visible,
		sessions: map[string]*tracked{}, marked: map[string]bool{}, ids: map[int]string{},
		moving: map[string]bool{}, poll: max(f.options.Poll, -f.options.Poll),
	}
	defer t.set.Close()
	updates := fleet.Follow(ctx, f.options.Store, fleet.Options{Match: f.options.Match, Mode: fleet.TailOnly, Poll: f.options.Poll})
	for id, err := range f.options.Store.IDs(ctx) {
		if err != nil {
			return f.told(ctx, "", err)
		}
		if f.Matches(id) {
			t.mark(id)
		}
	}
	var work sync.WaitGroup
	defer work.Wait()
	defer stop(nil)
	work.Go(func() {
		for u, err := range updates {
			var one *fleet.SessionError
			if err != nil && !errors.As(err, &one) {
				stop(err)
				return
			}
			if u.Session != "" {
				t.mark(u.Session)
			}
		}
	})
	work.Go(func() { t.listen(ctx) })
	work.Go(func() { t.attend(ctx) })
	err := t.work(ctx, send)
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, context.Canceled) {
		return errors.New(f.explain("", cause))
	}
	return nil
}

// Matches reports whether a session is one of those that the feed is about.
func (f *Feed) Matches(id string) bool {
	for _, pattern := range f.options.Match {
		if fits, _ := path.Match(pattern, id); fits {
			return true
		}
	}
	return len(f.options.Match) == 0
}

// A tracked session was looked at.
type tracked struct {
	key     int // in the watch
	dir     string
	changed time.Time // its directory, before it was looked at
	owes    bool
	deaf    bool // nothing is notified
}

// A tracker knows which sessions are to be looked at.
type tracker struct {
	feed    *Feed
	set     *watch.Set
	bell    chan struct{}
	visible func() []string
	poll    time.Duration

	mu       sync.Mutex
	sessions map[string]*tracked
	ids      map[int]string  // by key
	moving   map[string]bool // sessions that change although nothing in their directory does
	keys     int
	marked   map[string]bool
	line     []string // marked, in order; some may not be marked any more
	turn     int      // of the patrol
}

// mark notes that a session is to be looked at.
func (t *tracker) mark(id string) {
	t.mu.Lock()
	if !t.marked[id] {
		t.marked[id] = true
		t.line = append(t.line, id)
	}
	t.mu.Unlock()
	select {
	case t.bell <- struct{}{}:
	default:
	}
}

// take returns the sessions of one turn: those on the terminal first.
func (t *tracker) take() (ids []string, left int) {
	visible := t.visible()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, id := range visible {
		if t.marked[id] && len(ids) < turnSize {
			delete(t.marked, id)
			ids = append(ids, id)
		}
	}
	n := 0
	for ; n < len(t.line) && len(ids) < turnSize; n++ {
		if id := t.line[n]; t.marked[id] {
			delete(t.marked, id)
			ids = append(ids, id)
		}
	}
	if t.line = t.line[n:]; len(t.line) == 0 {
		t.line = nil
	}
	return ids, len(t.marked)
}

// work looks at what is marked and sends what it saw, until ctx ends.
func (t *tracker) work(ctx context.Context, send func(top.Batch)) error {
	for first := true; ; {
		ids, left := t.take()
		begun := time.Now()
		if len(ids) > 0 || first {
			b := t.lookAll(ctx, ids)
			b.Left = left
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if first = first && left > 0; first {
				send(b)
				continue
			}
			b.Left = 0 // what is marked again was looked at before
			send(b)
			if !rest(ctx, max(turnPause, restShare*time.Since(begun))) {
				return ctx.Err()
			}
			continue
		}
		select {
		case <-t.bell:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// rest waits, and reports whether ctx goes on.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// lookAll looks at sessions, on all processors.
func (t *tracker) lookAll(ctx context.Context, ids []string) (b top.Batch) {
	rows, there := make([]top.Row, len(ids)), make([]bool, len(ids))
	workers := min(runtime.GOMAXPROCS(0), 1+len(ids)/16)
	var work sync.WaitGroup
	for w := range workers {
		work.Go(func() {
			for i := w; i < len(ids) && ctx.Err() == nil; i += workers {
				rows[i], there[i] = t.look(ctx, ids[i])
			}
		})
	}
	work.Wait()
	for i, id := range ids {
		if there[i] {
			b.Rows = append(b.Rows, rows[i])
		} else {
			b.Gone = append(b.Gone, id)
		}
	}
	return b
}
