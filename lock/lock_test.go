package lock_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
)

func TestProcessesAndGoroutinesExcludeEachOther(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/count", []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	var cmds []*exec.Cmd
	for range 4 {
		cmd := command("count", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	var wg sync.WaitGroup
	shared := open(t, dir, lock.Options{})
	for i := range 4 {
		d := shared
		if i >= 2 { // a handle of its own
			d = open(t, dir, lock.Options{})
		}
		wg.Go(func() {
			if err := countTo(d, 200); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(dir + "/count")
	if string(got) != "1600" || err != nil {
		t.Fatalf("got %s, %v, want 1600", got, err)
	}
}

func TestKilledHolderFreesItsLocks(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, lock.Options{Wait: -1})
	for _, role := range []string{"hold-record", "hold-delivery"} {
		cmd := start(t, role, dir)
		if role == "hold-delivery" {
			if _, err := d.TryDelivery(); !errors.Is(err, lock.ErrBusy) {
				t.Fatalf("got %v, want ErrBusy while the child holds it", err)
			}
		}
		cmd.Process.Kill()
		cmd.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if role == "hold-record" {
			r, err := d.Record(ctx)
			if err != nil {
				t.Fatal(err)
			}
			release(t, r)
			continue
		}
		held, err := d.Delivery(ctx)
		if err != nil {
			t.Fatal(err)
		}
		release(t, held)
	}
}

// The turns lock has one holder among all processes and handles, is refused at once
// while it is held, stands beside the other two, and is free when its holder dies.
func TestTurnsLockHasOneHolder(t *testing.T) {
	dir := t.TempDir()
	d, other := open(t, dir, lock.Options{}), open(t, dir, lock.Options{})
	cmd := start(t, "hold-turns", dir)
	if _, err := d.TryTurns(); !errors.Is(err, lock.ErrBusy) || !strings.Contains(err.Error(), "turns lock") {
		t.Fatalf("got %v, want ErrBusy while the child holds it", err)
	}
	release(t, record(t, d))
	cmd.Process.Kill()
	cmd.Wait()
	held, err := d.TryTurns()
	if err != nil {
		t.Fatal(err)
	}
	for _, handle := range []*lock.Dir{d, other} {
		if _, err := handle.TryTurns(); !errors.Is(err, lock.ErrBusy) {
			t.Errorf("got %v, want ErrBusy inside one process", err)
		}
	}
	pass, err := d.TryDelivery()
	if err != nil {
		t.Fatal(err)
	}
	release(t, pass)
	if err := held.Covers(dir); err != nil {
		t.Error(err)
	}
	release(t, held)
	for _, err := range []error{held.Covers(dir), (*lock.Turns)(nil).Covers(dir)} {
		if !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("got %v, want ErrNotHeld", err)
		}
	}
	again, err := other.TryTurns()
	if err != nil {
		t.Fatal(err)
	}
	release(t, again)
	if err := (*lock.Turns)(nil).Release(); err != nil {
		t.Error(err)
	}
}

func TestWaitEndsTyped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "worker-1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	start(t, "hold-record", dir)
	start(t, "hold-delivery", dir)
	d := open(t, dir, lock.Options{Wait: 20 * time.Millisecond})

	_, err := d.Record(t.Context())
	var timeout *lock.TimeoutError
	if !errors.As(err, &timeout) || !errors.Is(err, lock.ErrTimeout) {
		t.Fatalf("got %v, want a TimeoutError", err)
	}
	if timeout.Session != "worker-1" || timeout.Lock != "record" || !strings.Contains(err.Error(), "worker-1: record lock") {
		t.Fatalf("got %+v, %v, want session and lock named", timeout, err)
	}
	if _, err = d.Delivery(t.Context()); !errors.As(err, &timeout) || timeout.Lock != "delivery" {
		t.Fatalf("got %v, want a TimeoutError of the delivery lock", err)
	}

	cause := errors.New("the caller left")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err = d.Record(ctx); !errors.Is(err, cause) || errors.Is(err, lock.ErrTimeout) {
		t.Fatalf("got %v, want the context's cause and no timeout", err)
	}
	patient := open(t, dir, lock.Options{Wait: -1})
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	if _, err = patient.Record(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, lock.ErrTimeout) {
		t.Fatalf("got %v, want the context's deadline", err)
	}
}

func TestWaitersAreServedInOrder(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{Wait: -1})
	first := record(t, d)
	served := make(chan int, 20)
	for i := range 20 {
		go func() {
			r, err := d.Record(context.Background())
			if err != nil {
				t.Error(err)
			}
			served <- i
			r.Release()
		}()
		eventually(t, "the waiter queues up", func() bool { return d.Waiting() == i+1 })
		// The gate counts a waiter just before it queues; the next one must not
		// slip in between.
		eventually(t, "the waiter is parked", func() bool { return parked() >= i+1 })
	}
	release(t, first)
	for want := range 20 {
		if got := <-served; got != want {
			t.Fatalf("got %d served, want %d", got, want)
		}
	}
}

// parked counts the goroutines that wait inside the gate.
func parked() int {
	var b strings.Builder
	pprof.Lookup("goroutine").WriteTo(&b, 2)
	return strings.Count(b.String(), "semaphore.(*Weighted).Acquire(")
}

func TestWaitingCostsNoThreads(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{Wait: -1})
	first := record(t, d)
	before := pprof.Lookup("threadcreate").Count()
	var wg sync.WaitGroup
	total := 0
	for range 10_000 {
		wg.Go(func() {
			r, err := d.Record(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			total++ // guarded by the lock alone
			r.Release()
		})
	}
	eventually(t, "all wait", func() bool { return d.Waiting() == 10_000 })
	if grown := pprof.Lookup("threadcreate").Count() - before; grown > 10 {
		t.Errorf("got %d new threads for 10,000 waiters, want at most 10", grown)
	}
	release(t, first)
	wg.Wait()
	if total != 10_000 {
		t.Fatalf("got %d holds, want 10,000", total)
	}
	if d.Waiting() != 0 {
		t.Fatalf("got %d waiters left, want none", d.Waiting())
	}
}

func TestRemovedLockFileIsMadeAgain(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, lock.Options{})
	release(t, record(t, d))
	if err := os.Remove(dir + "/record.lock"); err != nil {
		t.Fatal(err)
	}
	r := record(t, d)
	other := open(t, dir, lock.Options{Wait: time.Millisecond})
	if _, err := other.Record(t.Context()); !errors.Is(err, lock.ErrTimeout) {
		t.Fatalf("got %v, want ErrTimeout: both must lock the new file", err)
	}
	release(t, r)
}

func TestRecordsAreTakenInOneOrder(t *testing.T) {
	root := t.TempDir()
	var dirs []*lock.Dir
	for i := range 3 {
		dir := filepath.Join(root, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, open(t, dir, lock.Options{}))
	}
	var wg sync.WaitGroup
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 1}, {2, 0}} {
		wg.Go(func() {
			for range 200 {
				var want []*lock.Dir
				for _, i := range order {
					want = append(want, dirs[i])
				}
				set, err := lock.Records(context.Background(), want...)
				if err != nil {
					t.Error(err)
					return
				}
				for _, d := range want {
					if err := set.Of(d).Covers(d.Path()); err != nil {
						t.Error(err)
					}
				}
				if err := set.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestRecordsHoldsNothingOnError(t *testing.T) {
	root := t.TempDir()
	var dirs []*lock.Dir
	for _, name := range []string{"a", "b"} {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, open(t, dir, lock.Options{Wait: time.Millisecond}))
	}
	start(t, "hold-record", dirs[1].Path())
	if _, err := lock.Records(t.Context(), dirs...); !errors.Is(err, lock.ErrTimeout) {
		t.Fatalf("got %v, want ErrTimeout", err)
	}
	release(t, record(t, dirs[0]))
}

func TestHeldLockCoversItsDirectoryOnly(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{})
	r := record(t, d)
	if err := r.Covers(d.Path()); err != nil {
		t.Error(err)
	}
	if err := r.Covers(d.Path() + "/../elsewhere"); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("got %v, want ErrNotHeld", err)
	}
	release(t, r)
	release(t, r)
	for _, err := range []error{r.Covers(d.Path()), r.Begin(), (*lock.Record)(nil).Covers(d.Path()), (*lock.Delivery)(nil).Covers(d.Path())} {
		if !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("got %v, want ErrNotHeld", err)
		}
	}
	if err := (*lock.Record)(nil).Release(); err != nil {
		t.Error(err)
	}
}

func TestCloseDoesNotWaitForAnotherHandle(t *testing.T) {
	dir := t.TempDir()
	working, leaving := open(t, dir, lock.Options{}), open(t, dir, lock.Options{})
	release(t, record(t, leaving))
	r := record(t, working)
	closed := make(chan error, 1)
	go func() { closed <- leaving.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Close waits for a lock that another handle holds")
	}
	release(t, r)
	release(t, record(t, leaving)) // it can be used again
}

func TestNoGateIsLeftBehind(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{Wait: time.Millisecond})
	r := record(t, d)
	pass, err := d.TryDelivery()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.TryDelivery(); !errors.Is(err, lock.ErrBusy) {
		t.Fatalf("got %v, want ErrBusy inside one process", err)
	}
	if _, err := d.Record(t.Context()); !errors.Is(err, lock.ErrTimeout) {
		t.Fatalf("got %v, want ErrTimeout inside one process", err)
	}
	release(t, r)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if got := lock.Gates(); got != 1 {
		t.Fatalf("got %d gates while a lock is held, want 1", got)
	}
	release(t, pass)
	if got := lock.Gates(); got != 0 {
		t.Fatalf("got %d gates, want none", got)
	}
	if err := os.RemoveAll(d.Path()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Record(t.Context()); !errors.Is(err, lock.ErrClosed) {
		t.Fatalf("got %v, want ErrClosed", err)
	}
	if got := lock.Gates(); got != 0 {
		t.Fatalf("got %d gates after a lock that was refused, want none", got)
	}
}
