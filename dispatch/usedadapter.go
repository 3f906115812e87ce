package dispatch

import (
	"fmt"
	"maps"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/timeline/session"
)

// A usedAdapter is an adapter that was opened for a session's record. When the
// record changes it is closed as soon as no pass uses it any more.
type usedAdapter struct {
	adapter.Opened
	name     string
	settings map[string]string
	err      error // why it could not be opened; it is adapter.ErrRefused
	users    int
	replaced bool
}

// useAdapter returns the adapter that the record names, opened once as long as the
// record does not change. leaveAdapter must follow, also if err is set in it.
func (d *Dispatcher) useAdapter(h *handle, r session.Record) *usedAdapter {
	h.mu.Lock()
	current := h.adapter
	if current != nil && current.name == r.Adapter && maps.Equal(current.settings, r.Settings) {
		current.users++
		h.mu.Unlock()
		return current
	}
	h.mu.Unlock()

	u := &usedAdapter{name: r.Adapter, settings: maps.Clone(r.Settings), users: 1}
	u.Opened, u.err = d.options.Adapters.Open(r.Adapter, adapter.Session{ID: h.ID(), Dir: h.Dir(), Store: d.store.Dir()}, r.Settings)
	if u.err != nil {
		u.err = fmt.Errorf("session %s: %w", h.ID(), u.err)
	}
	if err := h.replaceAdapter(u); err != nil && u.err == nil {
		u.err = adapter.Refuse(fmt.Errorf("session %s: close the adapter of before: %w", h.ID(), err))
	}
	return u
}

// leaveAdapter ends one use.
func (h *handle) leaveAdapter(u *usedAdapter) error {
	h.mu.Lock()
	u.users--
	last := u.replaced && u.users == 0
	h.mu.Unlock()
	if last {
		return u.close()
	}
	return nil
}

// replaceAdapter makes next the adapter of the handle.
func (h *handle) replaceAdapter(next *usedAdapter) error {
	h.mu.Lock()
	before := h.adapter
	h.adapter = next
	idle := before != nil && before.users == 0
	if before != nil {
		before.replaced = true
	}
	h.mu.Unlock()
	if idle {
		return before.close()
	}
	return nil
}

func (u *usedAdapter) close() error {
	if u.Adapter == nil {
		return nil
	}
	if err := u.Close(); err != nil {
		return fmt.Errorf("adapter %s: %w", u.name, err)
	}
	return nil
}

// inUse returns what a pass works with: the opened adapter, or one that refuses with
// the reason why there is none, so that it is noted where people look for it.
func (u *usedAdapter) inUse() adapter.Opened {
	if u.err != nil {
		return adapter.Use(u.name, unusable{u.err})
	}
	return u.Opened
}

// headless reports what the adapter declares; one that cannot be opened declares
// nothing.
func (u *usedAdapter) headless() bool { return u.Adapter != nil && u.Adapter.Headless() }
