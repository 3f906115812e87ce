package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
)

// A handle is one open session with its queue and the adapter that was last
// opened for it.
type handle struct {
	*session.Session
	queue *queue.Queue

	users   int
	stale   bool
	faulted atomic.Bool // a data sync of its log failed
	human   human

	replaced atomic.Pointer[Repaired] // what is to be told of a replaced queue, when no lock is held

	mu      sync.Mutex
	adapter *usedAdapter // nil until one was needed
}

// open is the slow path of [handles.get].
func (d *Dispatcher) open(id string) (*handle, error) {
	s, err := d.store.Open(id)
	if err != nil {
		return nil, err
	}
	q, err := queue.Open(s.Dir(), queue.Options{Locks: s.Locks(), Now: d.options.Now})
	if err != nil {
		return nil, errors.Join(err, s.Release())
	}
	return &handle{Session: s, queue: q}, nil
}

func (h *handle) free() error {
	return errors.Join(h.replaceAdapter(nil), h.queue.Close(), h.Session.Release())
}

// write, commit and syncAll are the log's; a write that begins a segment syncs the one
// before. After a failed sync a log refuses to go on, so the
// handle is left to who uses it now, and the next user opens the session anew.
func (h *handle) write(held *lock.Record, lines ...timeline.Entry) (timeline.Written, error) {
	w, err := h.Timeline().Write(held, lines...)
	return w, h.synced(err)
}

func (h *handle) commit(w timeline.Written) error { return h.synced(h.Timeline().Commit(w)) }

func (h *handle) syncAll(ctx context.Context) error { return h.synced(h.Timeline().SyncAll(ctx)) }

func (h *handle) synced(err error) error {
	if errors.Is(err, segment.ErrFaulted) {
		h.faulted.Store(true)
	}
	return err
}

// handles keeps sessions open between calls, so that a busy session does not pay
// for opening its files at each message.
type handles struct {
	open func(id string) (*handle, error)
	told func(*Repaired)
	idle int // how many are kept that nobody uses

	mu   sync.Mutex
	kept map[string]*handle
	used []string // ids of kept handles, least recently used first
}

// get returns the open session; put must follow. The handle of a session that was
// closed meanwhile is replaced by one of the session that bears the id now. If there is
// no descriptor left, the idle sessions give theirs back.
func (hs *handles) get(id string) (*handle, error) {
	h, err := hs.tryGet(id)
	if scarce(err) && hs.clear() {
		return hs.tryGet(id)
	}
	return h, err
}

func (hs *handles) tryGet(id string) (*handle, error) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	if h := hs.kept[id]; h != nil {
		if !h.stale && !h.faulted.Load() && !h.Locks().Gone() {
			h.users++
			hs.touch(id)
			return h, nil
		}
		hs.drop(id)
	}
	h, err := hs.open(id)
	if err != nil {
		return nil, err
	}
	if hs.kept == nil {
		hs.kept = map[string]*handle{}
	}
	h.users = 1
	hs.kept[id] = h
	hs.touch(id)
	return h, nil
}

func (hs *handles) put(h *handle) {
	hs.release(h)
	hs.told(h.replaced.Swap(nil))
}

func (hs *handles) release(h *handle) {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h.users--
	if h.users == 0 && h.stale {
		h.free()
	}
	for i := 0; len(hs.used) > hs.idle && i < len(hs.used); {
		if hs.kept[hs.used[i]].users > 0 {
			i++
			continue
		}
		hs.drop(hs.used[i])
	}
}

// touch moves the id to the end of the order of use.
func (hs *handles) touch(id string) {
	if i := slices.Index(hs.used, id); i >= 0 {
		hs.used = slices.Delete(hs.used, i, i+1)
	}
	hs.used = append(hs.used, id)
}

// drop forgets a handle, and frees it as soon as nobody uses it.
func (hs *handles) drop(id string) {
	h := hs.kept[id]
	if hs.forget(id) {
		h.free()
	}
}

// forget takes a handle out, and reports whether nobody uses it; otherwise the last put
// frees it.
func (hs *handles) forget(id string) (unused bool) {
	h := hs.kept[id]
	delete(hs.kept, id)
	if i := slices.Index(hs.used, id); i >= 0 {
		hs.used = slices.Delete(hs.used, i, i+1)
	}
	h.stale = true
	return h.users == 0
}

func (hs *handles) close() error {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	var errs []error
	for _, h := range hs.kept {
		errs = append(errs, h.free())
	}
	hs.kept, hs.used = nil, nil
	return errors.Join(errs...)
}
