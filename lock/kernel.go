package lock

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"
)

const (
	spins     = 64 // attempts without a pause: most holds are over within them
	firstPoll = 50 * time.Microsecond
	lastPoll  = 5 * time.Millisecond

	looks     = 4 * spins // attempts while others only look at the lock
	lookPause = time.Millisecond
)

// errHeld is what the platform's tryFlock answers when another holder has the lock.
var errHeld = errors.New("held")

// A kernelLock is one lock file. The holder uses file without the mutex: nobody
// closes it under a holder but a caller who breaks the rule of [Dir.Close].
type kernelLock struct {
	dir  *Dir
	name string
	path string

	mu    sync.Mutex
	file  *os.File
	fd    uintptr // of file, while that is open
	id    fileID  // of file
	place place   // where file was seen last
	gate  *gate   // nil: not used since it was made or closed
	held  bool
}

func (k *kernelLock) init(d *Dir, name, base string) {
	k.dir, k.name, k.path = d, name, d.path+string(os.PathSeparator)+base
}

func (k *kernelLock) session() string { return filepath.Base(k.dir.path) }

// acquire passes the gate, then polls the kernel until the lock is taken on the
// file that is in the directory now.
func (k *kernelLock) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return k.waitError(ctx, 0, err)
	}
	k.mu.Lock()
	g := k.enter()
	passed := g.TryAcquire(1)
	if passed {
		err := k.lockFile()
		if err == nil {
			k.held = true
			k.mu.Unlock()
			return nil
		}
		if err != errHeld {
			return k.backOut(g, err)
		}
	}
	useGate(g)
	k.mu.Unlock()
	err := k.queue(ctx, g, passed)
	k.mu.Lock()
	leaveGate(k.path, g)
	if err != nil {
		k.idle()
	}
	k.mu.Unlock()
	return err
}

// try is acquire without any wait for a holder. Who only looks is done in a moment, or
// was stopped in the middle of it.
func (k *kernelLock) try() error {
	k.mu.Lock()
	g := k.enter()
	if !g.TryAcquire(1) {
		k.idle()
		k.mu.Unlock()
		return fmt.Errorf("session %s: %s lock: %w", k.session(), k.name, ErrBusy)
	}
	err := k.lockFile()
	for n := 0; n < looks && err == errHeld && k.lookedAt(); n++ {
		if n < spins {
			yield()
		} else {
			time.Sleep(lookPause)
		}
		err = k.lockFile()
	}
	if err == errHeld {
		err = fmt.Errorf("session %s: %s lock: %w", k.session(), k.name, ErrBusy)
	}
	if err != nil {
		return k.backOut(g, err)
	}
	k.held = true
	k.mu.Unlock()
	return nil
}

// lookedAt reports that nobody holds the lock that was just found held: who had it then
// only looked, as [Dir.Delivering] does, or has freed it since.
func (k *kernelLock) lookedAt() bool {
	shared, err := shareFlock(k.fd)
	return shared && err == nil && unflock(k.fd, false) == nil
}

// queue waits in the gate, unless it is passed already, and then for the kernel.
func (k *kernelLock) queue(ctx context.Context, g *gate, passed bool) error {
	begun, err := time.Now(), errHeld
	if passed {
		err = k.spin(ctx, begun) // most waits end here, and make no timer
	}
	bounded, wait := ctx, k.dir.wait
	if err == errHeld && wait > 0 {
		var cancel context.CancelFunc
		bounded, cancel = context.WithDeadline(ctx, begun.Add(wait))
		defer cancel()
	}
	if !passed {
		if err := g.Acquire(bounded, 1); err != nil {
			return k.waitError(ctx, wait, err)
		}
		err = k.spin(bounded, begun)
	}
	if err == errHeld {
		err = k.poll(bounded)
	}
	if err != nil {
		g.Release(1)
	}
	if bounded.Err() != nil && errors.Is(err, bounded.Err()) {
		return k.waitError(ctx, wait, err)
	}
	return err
}

// spin tries again and again, and only lets others run in between, because the holder
// is likely to be done before a timer could fire. It answers errHeld when it was not,
// or the wait that has begun then is as long as it may be.
func (k *kernelLock) spin(ctx context.Context, begun time.Time) error {
	for range spins {
		if err := k.attempt(); err != errHeld {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if yield(); k.dir.wait > 0 && time.Since(begun) >= k.dir.wait {
			break
		}
	}
	return errHeld
}

// poll tries after pauses that grow.
func (k *kernelLock) poll(ctx context.Context) error {
	pause := firstPoll
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		if err := k.attempt(); err != errHeld {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
		}
		pause = min(2*pause, lastPoll)
		timer.Reset(pause/2 + rand.N(pause))
	}
}

// attempt is lockFile for one who has passed the gate and not locked mu.
func (k *kernelLock) attempt() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.lockFile()
	if err == nil {
		k.enter() // the handle may have been closed since
		k.held = true
	}
	return err
}

// lockFile makes one attempt. It succeeds only on the file that bears the lock's
// name in the directory that was opened; a lock on a file that was unlinked or
// replaced meanwhile is given back and tried again on the new one. An error is
// errHeld itself, or says what is wrong.
func (k *kernelLock) lockFile() error {
	for range 100 {
		if err := k.open(); err != nil {
			return err
		}
		if err := tryFlock(k.fd, k.place.quick()); err != nil {
			return k.flockError(err)
		}
		if k.place.stands() || k.look() {
			return nil
		}
		k.file.Close()
		k.file = nil
		if k.dir.Gone() {
			return fmt.Errorf("session %s: %s lock: %w", k.session(), k.name, ErrClosed)
		}
	}
	return fmt.Errorf("session %s: %s lock: %s is replaced again and again: find the program that does it", k.session(), k.name, k.path)
}

// look reports that the file bears the lock's name, and notes how to see more
// cheaply that it still does.
func (k *kernelLock) look() bool {
	k.place.prepare(k.dir)
	now, err := idAt(k.path)
	return err == nil && now == k.id
}

func (k *kernelLock) open() error {
	if k.file != nil {
		return nil
	}
	if k.dir.Gone() {
		return fmt.Errorf("session %s: %s lock: %w", k.session(), k.name, ErrClosed)
	}
	f, err := openLock(k.path)
	if err != nil {
		return k.openError(err)
	}
	id, regular, err := idOf(f)
	if err != nil || !regular {
		f.Close()
		return fmt.Errorf("session %s: %s is not a plain file (%v): remove it", k.session(), k.path, err)
	}
	k.file, k.fd, k.id, k.place = f, f.Fd(), id, place{}
	return nil
}

func (k *kernelLock) openError(err error) error {
	switch {
	case k.dir.Gone():
		return fmt.Errorf("session %s: %s lock: %w", k.session(), k.name, ErrClosed)
	case errors.Is(err, os.ErrPermission), isReadOnly(err):
		return fmt.Errorf("session %s: %s lock: %w: %w", k.session(), k.name, ErrReadOnly, err)
	}
	return fmt.Errorf("session %s: %s lock: %w", k.session(), k.name, err)
}

func (k *kernelLock) flockError(err error) error {
	if errors.Is(err, errHeld) {
		return errHeld
	}
	if isUnsupported(err) {
		err = fmt.Errorf("%w: %w: keep the store on a local file system", ErrUnsupported, err)
	}
	return fmt.Errorf("session %s: %s lock: %s: %w", k.session(), k.name, k.path, err)
}

// waitError tells a bound that passed from a caller that gave up.
func (k *kernelLock) waitError(ctx context.Context, wait time.Duration, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("session %s: wait for the %s lock: %w", k.session(), k.name, context.Cause(ctx))
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &TimeoutError{Session: k.session(), Lock: k.name, Path: k.path, Waited: wait}
	}
	return err
}

// enter returns the gate, and keeps it until the handle is idle and closed.
func (k *kernelLock) enter() *gate {
	if k.gate == nil {
		k.gate = enterGate(k.path)
	}
	return k.gate
}

// idle gives the gate back if neither the file nor the lock is kept.
func (k *kernelLock) idle() {
	if k.gate != nil && k.file == nil && !k.held {
		leaveGate(k.path, k.gate)
		k.gate = nil
	}
}

// backOut ends a try that has passed the gate. It unlocks mu.
func (k *kernelLock) backOut(g *gate, err error) error {
	g.Release(1)
	k.idle()
	k.mu.Unlock()
	return err
}

func (k *kernelLock) release() error {
	k.mu.Lock()
	if !k.held {
		k.mu.Unlock()
		return nil
	}
	k.held = false
	var err error
	if k.file != nil {
		if err = unflock(k.fd, k.place.quick()); err != nil {
			// Closing the descriptor frees the lock whatever unlocking said.
			err = k.file.Close()
			k.file = nil
		}
	}
	return k.backOut(k.gate, err)
}

// close waits for no other handle, so that one session can be let go while another
// part of the process works on it.
func (k *kernelLock) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var err error
	if k.file != nil {
		err = k.file.Close()
		k.file = nil
	}
	k.idle()
	return err
}
