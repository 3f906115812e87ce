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
)

// errHeld is what the platform's tryFlock answers when another holder has the lock.
var errHeld = errors.New("held")

// A kernelLock is one lock file. The holder uses file without the mutex: nobody
// closes it under a holder but a caller who breaks the rule of [Dir.Close].
type kernelLock struct {
	dir  *Dir
	name string
	path string

	mu   sync.Mutex
	file *os.File
	id   fileID // of file
	gate *gate  // while held
}

func newKernelLock(d *Dir, name, base string) *kernelLock {
	return &kernelLock{dir: d, name: name, path: filepath.Join(d.path, base)}
}

func (k *kernelLock) session() string { return filepath.Base(k.dir.path) }

// acquire passes the gate, then polls the kernel until the lock is taken on the
// file that is in the directory now.
func (k *kernelLock) acquire(ctx context.Context, wait time.Duration) error {
	if err := ctx.Err(); err != nil {
		return k.waitError(ctx, 0, err)
	}
	g := enterGate(k.path)
	if g.TryAcquire(1) {
		err := k.lockFile()
		if err == nil {
			k.hold(g)
			return nil
		}
		if !errors.Is(err, errHeld) {
			return k.backOut(g, err)
		}
		g.Release(1)
	}
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if wait > 0 {
		bounded, cancel = context.WithTimeout(ctx, wait)
	}
	defer cancel()
	if err := g.Acquire(bounded, 1); err != nil {
		leaveGate(k.path, g)
		return k.waitError(ctx, wait, err)
	}
	if err := k.poll(bounded); err != nil {
		if bounded.Err() != nil && errors.Is(err, bounded.Err()) {
			err = k.waitError(ctx, wait, err)
		}
		return k.backOut(g, err)
	}
	k.hold(g)
	return nil
}

// try is acquire without any wait.
func (k *kernelLock) try() error {
	g := enterGate(k.path)
	if !g.TryAcquire(1) {
		leaveGate(k.path, g)
		return fmt.Errorf("session %s: %s lock: %w", k.session(), k.name, ErrBusy)
	}
	err := k.lockFile()
	if errors.Is(err, errHeld) {
		err = fmt.Errorf("session %s: %s lock: %w", k.session(), k.name, ErrBusy)
	}
	if err != nil {
		return k.backOut(g, err)
	}
	k.hold(g)
	return nil
}

// poll tries again and again. At first it only lets others run in between, because
// the holder is likely to be done before a timer could fire.
func (k *kernelLock) poll(ctx context.Context) error {
	for range spins {
		if err := k.lockFile(); !errors.Is(err, errHeld) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		yield()
	}
	pause := firstPoll
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		err := k.lockFile()
		if !errors.Is(err, errHeld) {
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

// lockFile makes one attempt. It succeeds only on the file that bears the lock's
// name in the directory that was opened; a lock on a file that was unlinked or
// replaced meanwhile is given back and tried again on the new one.
func (k *kernelLock) lockFile() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for range 100 {
		if err := k.open(); err != nil {
			return err
		}
		if err := tryFlock(k.file); err != nil {
			return k.flockError(err)
		}
		if now, err := idAt(k.path); err == nil && now == k.id {
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

func (k *kernelLock) open() error {
	if k.file != nil {
		return nil
	}
	if k.dir.Gone() {
		return fmt.Errorf("session %s: %s lock: %w", k.session(), k.name, ErrClosed)
	}
	f, err := os.OpenFile(k.path, os.O_RDWR|os.O_CREATE|openFlags, 0o600)
	if err != nil {
		return k.openError(err)
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		f.Close()
		return fmt.Errorf("session %s: %s is not a plain file (%v): remove it", k.session(), k.path, err)
	}
	if k.id, err = idOf(f); err != nil {
		f.Close()
		return fmt.Errorf("session %s: %s lock: %s: %w", k.session(), k.name, k.path, err)
	}
	k.file = f
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

func (k *kernelLock) hold(g *gate) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.gate = g
}

func (k *kernelLock) backOut(g *gate, err error) error {
	g.Release(1)
	leaveGate(k.path, g)
	return err
}

func (k *kernelLock) release() error {
	k.mu.Lock()
	g, err := k.gate, error(nil)
	k.gate = nil
	if g != nil && k.file != nil {
		if err = unflock(k.file); err != nil {
			// Closing the descriptor frees the lock whatever unlocking said.
			err = k.file.Close()
			k.file = nil
		}
	}
	k.mu.Unlock()
	if g == nil {
		return nil
	}
	return k.backOut(g, err)
}

// close waits for no other handle, so that one session can be let go while another
// part of the process works on it.
func (k *kernelLock) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil {
		return nil
	}
	err := k.file.Close()
	k.file = nil
	return err
}
