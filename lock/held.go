package lock

import (
	"fmt"
	"path/filepath"
)

// A hold is one successful acquisition. It is used by one goroutine at a time.
type hold struct {
	lock     *kernelLock
	released bool
}

func (h *hold) covers(dir string) error {
	if h == nil || h.released {
		return fmt.Errorf("%w: it was released already", ErrNotHeld)
	}
	if path := h.lock.dir.path; dir != path {
		if abs, err := filepath.Abs(dir); err != nil || abs != path {
			return fmt.Errorf("%w: it is the %s lock of %s, not of %s", ErrNotHeld, h.lock.name, path, dir)
		}
	}
	return nil
}

func (h *hold) release() error {
	if h.released {
		return nil
	}
	h.released = true
	return h.lock.release()
}

// A Record is the record lock, held. Its methods are for the goroutine that
// holds it.
type Record struct {
	hold
	state state // use the method known
	read  bool
	depth int
}

// known returns what the lock file said while the lock was held, and reads it only
// when somebody asks. Who asks too late learns that nothing is certain.
func (r *Record) known() *state {
	switch {
	case r.read:
	case r.released:
		r.state = state{interrupted: true}
	default:
		r.state.read(r.lock.file)
	}
	r.read = true
	return &r.state
}

// Covers returns nil if r is held and is the record lock of the session directory
// dir, and an error that is [ErrNotHeld] otherwise. A nil r is not held.
func (r *Record) Covers(dir string) error {
	if r == nil {
		return fmt.Errorf("%w: none was given", ErrNotHeld)
	}
	return r.covers(dir)
}

// Release frees the lock. Calling it again, or on nil, does nothing.
func (r *Record) Release() error {
	if r == nil {
		return nil
	}
	return r.release()
}

// Interrupted reports that an earlier holder died between [Record.Begin] and
// [Record.Done], that the machine restarted since the last Begin, or that the
// lock file does not say. Files that belong together may then disagree; who can
// make them agree does so and calls [Record.Recovered].
func (r *Record) Interrupted() bool { return r.known().interrupted }

// Restarted reports that the lock is interrupted because the machine restarted
// since the last change: whatever was not synced before may be lost or damaged.
func (r *Record) Restarted() bool { return r.known().interrupted && r.state.restarted }

// Generation is a number that every Begin of any process raises. What was read
// under a generation is still what the files say while the generation stands,
// as long as only holders that call Begin change them.
func (r *Record) Generation() uint64 { return r.known().generation }

// Begin notes on disk that a change of several files starts. Calls nest; only the
// outermost writes. If the process dies before the matching [Record.Done], the
// next holder finds the lock interrupted. An error means that nothing was noted
// and the change must not start.
func (r *Record) Begin() error {
	if err := r.Covers(r.lock.dir.path); err != nil {
		return err
	}
	if r.depth == 0 {
		next := *r.known()
		next.dirty = true
		next.generation++
		if err := r.write(next); err != nil {
			return err
		}
	}
	r.depth++
	return nil
}

// Done notes that the change that [Record.Begin] announced is complete. An
// interruption from before stays until [Record.Recovered]. Who cannot complete a
// change releases the lock without Done, and leaves it to the next holder. The error
// is [ErrNotHeld] after that, or says that the file could not be written.
func (r *Record) Done() error {
	if r.depth > 0 {
		r.depth--
	}
	if r.depth > 0 {
		return nil
	}
	next := *r.known()
	next.dirty = next.interrupted
	return r.write(next)
}

// Recovered notes that the holder has made the files agree again.
func (r *Record) Recovered() error {
	s := r.known()
	return r.write(state{dirty: r.depth > 0, generation: s.generation + 1, mark: s.mark, marked: s.marked})
}

func (r *Record) write(next state) error {
	if err := r.Covers(r.lock.dir.path); err != nil {
		return err
	}
	if err := next.write(r.lock.file); err != nil {
		return fmt.Errorf("session %s: note the state of a change in %s: %w", r.lock.session(), r.lock.path, err)
	}
	r.state, r.read = next, true
	return nil
}

// A Delivery is the delivery lock, held for one pass.
type Delivery struct{ hold }

// Covers returns nil if d is held and is the delivery lock of the session
// directory dir, and an error that is [ErrNotHeld] otherwise.
func (d *Delivery) Covers(dir string) error {
	if d == nil {
		return fmt.Errorf("%w: none was given", ErrNotHeld)
	}
	return d.covers(dir)
}

// Release frees the lock. Calling it again, or on nil, does nothing.
func (d *Delivery) Release() error {
	if d == nil {
		return nil
	}
	return d.release()
}

// A Turns is the turns lock, held by the one writer of the session's turn log.
type Turns struct{ hold }

// Covers returns nil if t is held and is the turns lock of the session directory
// dir, and an error that is [ErrNotHeld] otherwise.
func (t *Turns) Covers(dir string) error {
	if t == nil {
		return fmt.Errorf("%w: none was given", ErrNotHeld)
	}
	return t.covers(dir)
}

// Release frees the lock. Calling it again, or on nil, does nothing.
func (t *Turns) Release() error {
	if t == nil {
		return nil
	}
	return t.release()
}
