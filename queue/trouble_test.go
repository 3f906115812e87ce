package queue_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// A trouble lets one call of the disk fail, or that one and every later one.
type trouble struct {
	after int // calls that succeed first
	short int // bytes that a failing write writes
	stays bool
	err   error
	met   bool
}

func (tr *trouble) strike() error {
	tr.after--
	if tr.after == -1 || tr.stays && tr.after < 0 {
		tr.met = true
		return fmt.Errorf("test: %w", tr.err)
	}
	return nil
}

func (tr *trouble) on(d *desk) {
	d.SetTrouble(func(string, string) error { return tr.strike() })
	d.SetWriteAt(func(f *os.File, p []byte, at int64) (int, error) {
		if err := tr.strike(); err != nil {
			// Like an os.File, it does not count what went through before the error.
			_, writeErr := f.WriteAt(p[:min(tr.short, len(p))], at)
			return 0, errors.Join(err, writeErr)
		}
		return f.WriteAt(p, at)
	})
}

func (tr *trouble) off(d *desk) {
	d.SetTrouble(nil)
	d.SetWriteAt(nil)
}

// Every call of the disk fails in turn, in every change. A change that succeeded is
// whole. One that failed says so; behind a clean lock it changed nothing, and behind
// an interrupted one nothing is made up and all that concerns no other message stands.
func TestTroubleAtEveryCall(t *testing.T) {
	for _, tt := range []struct {
		name  string
		start []string
		do    func(d *desk, held *lock.Record) error
		want  []string
	}{
		{"first enqueue", nil, func(d *desk, held *lock.Record) error { return d.Enqueue(held, entry("x")) }, []string{"x"}},
		{"enqueue", []string{"a", "b"}, func(d *desk, held *lock.Record) error {
			return errors.Join(d.Reserve(held, entry("x")), d.Enqueue(held, entry("x")))
		}, []string{"a", "b", "x"}},
		{"removal of the only one", []string{"a"}, func(d *desk, held *lock.Record) error { return d.Remove(held, "a") }, nil},
		{"removal of the oldest", []string{"a", "b"}, func(d *desk, held *lock.Record) error { return d.Remove(held, "a") }, []string{"b"}},
		{"removal of the newest", []string{"a", "b"}, func(d *desk, held *lock.Record) error { return d.Remove(held, "b") }, []string{"a"}},
		{"compaction", []string{"a", "b", "c"}, func(d *desk, held *lock.Record) error {
			d.SetCompactAt(10)
			return d.Remove(held, "a")
		}, []string{"b", "c"}},
		{"rebuild", []string{"a", "b"}, func(d *desk, held *lock.Record) error {
			_, err := d.Rebuild(held, []queue.Entry{entry("b"), entry("x")})
			return err
		}, []string{"b", "x"}},
		{"rebuild to nothing", []string{"a"}, func(d *desk, held *lock.Record) error {
			_, err := d.Rebuild(held, nil)
			return err
		}, nil},
		{"refusal", []string{"a"}, func(d *desk, held *lock.Record) error { return d.Refused(held, "a", "busy") }, []string{"a"}},
		{"conversion", []string{"a", "b"}, func(d *desk, held *lock.Record) error {
			d.put("[" + lineA + "," + lineB + "]")
			_, _, err := d.Head(held)
			return err
		}, []string{"a", "b"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, kind := range []trouble{{err: syscall.ENOSPC}, {err: syscall.EIO, short: 7}, {err: syscall.EMFILE, stays: true, short: 1}} {
				for n := 0; ; n++ {
					tr := kind
					tr.after = n
					c := newTroubled(t, tt.start)
					if c.run(&tr, tt.do, tt.want); !tr.met {
						break
					}
				}
			}
		})
	}
}

// A troubled is a desk on which one change meets trouble.
type troubled struct {
	*desk
	start []string
}

func newTroubled(t *testing.T, start []string) troubled {
	t.Helper()
	dir := t.TempDir()
	d := openDesk(t, dir, queue.Options{})
	d.must((*lock.Record).Recovered)
	d.enqueue(start...)
	return troubled{d, start}
}

func (c troubled) run(tr *trouble, do func(d *desk, held *lock.Record) error, want []string) {
	c.t.Helper()
	where := fmt.Sprintf("%v after %d calls", tr.err, tr.after)
	tr.on(c.desk)
	err := c.hold(func(held *lock.Record) error { return do(c.desk, held) })
	tr.off(c.desk)
	c.Close()
	again := openDesk(c.t, c.dir, queue.Options{})
	defer again.Close()
	interrupted := false
	again.must(func(held *lock.Record) error { interrupted = held.Interrupted(); return nil })
	in, inErr := again.Inspect()
	switch {
	case inErr != nil:
		c.t.Fatalf("%s: inspect: %v", where, inErr)
	case err == nil && (in.Err() != nil || !slices.Equal(mids(in.Entries), want)):
		c.t.Fatalf("%s: no error, and %v, %v, want %v", where, mids(in.Entries), in.Err(), want)
	case err != nil && !errors.Is(err, tr.err):
		c.t.Fatalf("%s: got error %v, want the cause in it", where, err)
	case err != nil && !interrupted && (in.Err() != nil || !slices.Equal(mids(in.Entries), c.start)):
		c.t.Fatalf("%s: %v: the lock is clean, and there is %v, %v, want what was", where, err, mids(in.Entries), in.Err())
	}
	for _, mid := range in.Entries {
		if !slices.Contains(c.start, mid.MID) && !slices.Contains(want, mid.MID) {
			c.t.Fatalf("%s: %s was made up", where, mid.MID)
		}
	}
	for _, mid := range c.start {
		if slices.Contains(want, mid) && !slices.Contains(mids(in.Entries), mid) {
			c.t.Fatalf("%s: %s is gone: %v", where, mid, in.Entries)
		}
	}
	again.must(func(held *lock.Record) error {
		_, err := again.Rebuild(held, in.Entries)
		return errors.Join(err, held.Recovered())
	})
	again.enqueue("y")
	again.atRest(append(mids(in.Entries), "y"))
	if there, err := os.Lstat(again.path() + ".new"); err == nil && !isList(c.t, c.dir, there) {
		c.t.Fatalf("%s: left over: %s", where, there.Name())
	}
}

// While the disk fails nothing that is owed reads as nothing.
func TestTroubleInReading(t *testing.T) {
	for n := range 4 {
		c := newTroubled(t, []string{"a"})
		tr := trouble{after: n, err: syscall.EIO}
		tr.on(c.desk)
		entries, err := c.List()
		if tr.met && !errors.Is(err, syscall.EIO) || !tr.met && len(entries) != 1 {
			t.Errorf("list, %d: got %v, %v", n, entries, err)
		}
		tr = trouble{after: n, err: syscall.EIO}
		count, err := c.Len()
		if err != nil && !errors.Is(err, syscall.EIO) || err == nil && count != 1 {
			t.Errorf("len, %d: got %d, %v", n, count, err)
		}
		tr = trouble{after: n, err: syscall.EIO}
		a := &agent{}
		_, err = c.drain(a.handover())
		if err != nil && !errors.Is(err, syscall.EIO) {
			t.Errorf("drain, %d: got %v", n, err)
		}
		tr.off(c.desk)
		if entries, err := c.List(); err != nil || len(entries)+len(a.handed) < 1 {
			t.Errorf("drain, %d: got %v, %v after %v", n, entries, err, a.handed)
		}
		c.Close()
	}
}
