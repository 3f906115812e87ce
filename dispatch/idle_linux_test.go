package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/file"
	"github.com/docket-go/docket/dispatch"
)

func init() {
	roles["few descriptors"] = fewDescriptors
	roles["no descriptor left"] = noDescriptorLeft
}

// deletedFiles counts the files that this process has open and that are gone from dir.
func deletedFiles(t *testing.T, dir string) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	n := 0
	for _, fd := range fds {
		path, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name()))
		if err == nil && strings.HasPrefix(path, dir) && strings.HasSuffix(path, " (deleted)") {
			n++
		}
	}
	return n
}

// A sweeper gives the files of a closed session back, whether it hears of the close or
// looks round, and keeps those of the others.
func TestSweeperGivesBackClosedSessions(t *testing.T) {
	const closed = 5
	for name, sweep := range map[string]dispatch.SweepOptions{
		"notified": {Interval: time.Hour},
		"polled":   {Poll: -10 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "keep")
			w.send("keep", dispatch.Message{Text: "hello"})
			s := dispatch.NewSweeper(w.Dispatcher, sweep)
			var watched atomic.Int64
			s.Watching(func(string) error { return nil }, func(string) { watched.Add(1) })
			for i := range closed {
				id := fmt.Sprint("s", i)
				w.create(id)
				w.send(id, dispatch.Message{Text: "hello"})
			}
			defer sweeping(t, s)()
			eventually(t, "the sweeper watches all there is", func() bool { return sweep.Poll < 0 || watched.Load() == closed+2 })
			if n := len(dispatch.Kept(w.Dispatcher)); n != closed+1 {
				t.Fatalf("got %d sessions kept open, want %d", n, closed+1)
			}
			for i := range closed {
				s, err := w.store.Open(fmt.Sprint("s", i))
				must(t, err)
				must(t, errors.Join(s.Close(t.Context()), s.Release()))
			}
			eventually(t, "nothing deleted is open", func() bool { return deletedFiles(t, w.dir) == 0 })
			wantEqual(t, "kept", dispatch.Kept(w.Dispatcher), []string{"keep"})
		})
	}
}

// A look at all sessions gives the files of closed ones back too.
func TestSweepGivesBackClosedSessions(t *testing.T) {
	w := newWorld(t, "keep", "s1")
	for _, id := range []string{"keep", "s1"} {
		w.send(id, dispatch.Message{Text: "hello"})
	}
	s, err := w.store.Open("s1")
	must(t, err)
	must(t, errors.Join(s.Close(t.Context()), s.Release()))
	if deletedFiles(t, w.dir) == 0 {
		t.Fatal("nothing deleted is open, so that nothing can be given back")
	}
	_, err = dispatch.NewSweeper(w.Dispatcher, polling).Sweep(t.Context())
	must(t, err)
	if n := deletedFiles(t, w.dir); n > 0 {
		t.Errorf("got %d deleted files open, want none", n)
	}
	wantEqual(t, "kept", dispatch.Kept(w.Dispatcher), []string{"keep"})
}

func TestIdleHandlesTakeAQuarterOfTheDescriptors(t *testing.T) {
	for descriptors, want := range map[uint64]int{0: 1, 20: 1, 128: 5, 256: 10, 1024: 42, 2048: 64, math.MaxUint64: 64} {
		if got := dispatch.IdleHandles(descriptors); got != want {
			t.Errorf("%d descriptors: got %d sessions, want %d", descriptors, got, want)
		}
	}
}

// A process that may have few descriptors works for any number of sessions, and one
// that has none left takes those of the sessions that it keeps open.
func TestFewDescriptors(t *testing.T) {
	for _, role := range []string{"few descriptors", "no descriptor left"} {
		t.Run(role, func(t *testing.T) {
			w := newWorld(t)
			const count = 40
			for i := range count {
				w.createFile(fmt.Sprint("s", i), filepath.Join(w.dir, "inbox"))
			}
			must(t, command(t, role, job{Store: w.dir, Count: count}).Run())
		})
	}
}

// fewDescriptors sends to more sessions than it has descriptors for, each twice.
func fewDescriptors(ctx context.Context, j job, _ *dispatch.Dispatcher) error {
	if err := allow(128); err != nil {
		return err
	}
	store, err := j.open()
	if err != nil {
		return err
	}
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{file.Kind}})
	defer d.Close()
	for i := range 2 * j.Count {
		if err := handedOver(ctx, d, fmt.Sprint("s", i%j.Count)); err != nil {
			return err
		}
	}
	return nil
}

// noDescriptorLeft sends to a session when other sessions and files have them all.
func noDescriptorLeft(ctx context.Context, j job, d *dispatch.Dispatcher) error {
	for i := range j.Count / 4 {
		if err := handedOver(ctx, d, fmt.Sprint("s", i)); err != nil {
			return err
		}
	}
	if err := allow(uint64(openFiles() + 16)); err != nil {
		return err
	}
	for {
		f, err := os.Open(os.DevNull)
		if errors.Is(err, syscall.EMFILE) {
			break
		}
		if err != nil {
			return err
		}
		defer f.Close()
	}
	return handedOver(ctx, d, fmt.Sprint("s", j.Count-1))
}

func allow(descriptors uint64) error {
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: descriptors, Max: descriptors})
}

func handedOver(ctx context.Context, d *dispatch.Dispatcher, id string) error {
	a, err := d.SendText(ctx, id, dispatch.Message{Text: "hello"})
	if err == nil && !a.Delivered {
		err = errors.Join(io.ErrShortWrite, a.Pass)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", id, err)
	}
	return nil
}
