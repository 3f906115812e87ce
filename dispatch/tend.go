package dispatch

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// tendAfter is how long a change in a session's directory is left alone before the
// session is tended: whoever made it tends the session itself, as a rule.
const tendAfter = 250 * time.Millisecond

// A tender calls [SweepOptions.Tend] for the sessions of a sweeper.
type tender struct {
	s     *Sweeper
	slots slots
	work  sync.WaitGroup
	bell  chan struct{} // somebody waits

	mu      sync.Mutex
	waiting map[string]bool
	working map[string]bool
	reasons map[string]string // the last error of a session that was logged
}

func newTender(s *Sweeper) *tender {
	return &tender{
		s: s, slots: make(slots, s.options.Parallel), bell: make(chan struct{}, 1),
		waiting: map[string]bool{}, working: map[string]bool{}, reasons: map[string]string{},
	}
}

// wants notes that the session is to be tended soon.
func (t *tender) wants(id string) {
	if t.s.options.Tend == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting[id] = true
	t.ring()
}

func (t *tender) ring() {
	select {
	case t.bell <- struct{}{}:
	default:
	}
}

// run tends those who wait, until ctx ends and all that was begun has ended.
func (t *tender) run(ctx context.Context) {
	defer t.work.Wait()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.bell:
		}
		if !pausing(ctx, tendAfter) {
			return
		}
		for _, id := range t.idle() {
			if t.slots.take(ctx) != nil {
				return
			}
			t.begin(ctx, id)
		}
	}
}

// pausing waits, and reports false if ctx ends meanwhile.
func pausing(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// idle returns those who wait, less those who are being tended: they go on waiting.
func (t *tender) idle() (ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.waiting {
		if !t.working[id] {
			ids = append(ids, id)
			delete(t.waiting, id)
			t.working[id] = true
		}
	}
	return ids
}

// begin tends one session, in the slot that was taken for it.
func (t *tender) begin(ctx context.Context, id string) {
	t.work.Go(func() {
		t.slots.hold(func() { t.tend(ctx, id) })
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.working, id)
		if t.waiting[id] {
			t.ring()
		}
	})
}

// tend calls Tend once, and logs an error whose text is another than the last one's.
func (t *tender) tend(ctx context.Context, id string) {
	err := t.s.options.Tend(ctx, id)
	if ctx.Err() != nil {
		return
	}
	text := ""
	if err != nil && !gone(err) {
		text = err.Error()
	}
	t.mu.Lock()
	before := t.reasons[id]
	delete(t.reasons, id)
	if text != "" {
		t.reasons[id] = text
	}
	t.mu.Unlock()
	if text == "" {
		return
	}
	level := slog.LevelWarn
	if text == before {
		level = slog.LevelDebug
	}
	t.s.options.Logger.Log(ctx, level, "not tended", "session", id, "error", text)
}

// all tends every session of the store once, and returns when that is done.
func (t *tender) all(ctx context.Context) error {
	if t.s.options.Tend == nil {
		return nil
	}
	defer t.work.Wait()
	for id, err := range t.s.d.store.IDs(ctx) {
		if err == nil {
			err = t.slots.take(ctx)
		}
		if err != nil {
			return err
		}
		t.begin(ctx, id)
	}
	return nil
}
