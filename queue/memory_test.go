package queue_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

var memoryDepth = flag.Int("depth", 100_000, "how many entries TestMemoryAtAnyDepth has in the queue")

// What a queue is asked for at each message takes no memory that grows with its depth,
// also by a handle that has not seen the list. A removal from the middle, which writes
// the list anew, and a compaction do not either.
func TestMemoryAtAnyDepth(t *testing.T) {
	const bound = 1 << 20 // bytes allocated by one operation, used and given back
	d := newDesk(t, queue.Options{})
	n := *memoryDepth
	writeList(t, d.path(), n)
	d.must((*lock.Record).Recovered)
	fresh := func(do func(d *desk) error) func() error {
		return func() error {
			other := openDesk(t, d.dir, queue.Options{})
			defer other.Close()
			return do(other)
		}
	}
	held := func(do func(d *desk, held *lock.Record) error) func() error {
		return fresh(func(d *desk) error {
			return d.hold(func(held *lock.Record) error { return do(d, held) })
		})
	}
	mid := func(i int) string { return benchEntry(i).MID }
	left := n
	for _, tt := range []struct {
		name string
		do   func() error
	}{
		{"owed", fresh(func(d *desk) error { _, err := d.Owed(); return err })},
		{"len", fresh(func(d *desk) error { return wantLen(d, left) })},
		{"peek", fresh(func(d *desk) error { return wantOldest(d, mid(0)) })},
		{"reserve and enqueue", held(func(d *desk, held *lock.Record) error {
			left++
			if err := d.Reserve(held, entry("last")); err != nil {
				return err
			}
			return d.Enqueue(held, entry("last"))
		})},
		{"head", held(func(d *desk, held *lock.Record) error { _, _, err := d.Head(held); return err })},
		{"removal of the oldest", held(func(d *desk, held *lock.Record) error { left--; return d.Remove(held, mid(0)) })},
		{"drain of 100", fresh(func(d *desk) error { left -= 100; return drainSome(d, 100, left) })},
		{"compaction", fresh(func(d *desk) error {
			left--
			d.SetCompactAt(1000)
			return d.hold(func(held *lock.Record) error { return d.Remove(held, mid(101)) })
		})},
		{"len again", fresh(func(d *desk) error { return wantLen(d, left) })},
	} {
		allocated, err := allocates(tt.do)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		t.Logf("%s: %d KiB", tt.name, allocated>>10)
		if allocated > bound {
			t.Errorf("%s: %d bytes were allocated, want at most %d", tt.name, allocated, bound)
		}
	}
}

// drainSome drains n messages of an agent that is busy then, which leaves left.
func drainSome(d *desk, n, left int) error {
	taken := 0
	done, err := d.drain(queue.Handover{
		Insert: func(context.Context, queue.Entry) (queue.Answer, error) {
			if taken == n {
				return queue.Refused, errBusy
			}
			taken++
			return queue.Taken, nil
		},
	})
	if len(done.MIDs) != n || done.Owed != left {
		return fmt.Errorf("got %d handed over and %d left, %v; want %d and %d", len(done.MIDs), done.Owed, err, n, left)
	}
	return nil
}

// writeList writes a list of n entries as this package does.
func writeList(t *testing.T, path string, n int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	for i := range n {
		line, err := queue.Encode(benchEntry(i))
		if err != nil {
			t.Fatal(err)
		}
		sep := ",\n"
		if i == 0 {
			sep = "[\n"
		}
		fmt.Fprintf(w, "%s%s", sep, line)
	}
	fmt.Fprint(w, "\n]\n")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

func wantLen(d *desk, want int) error {
	if n, err := d.Len(); n != want || err != nil {
		return fmt.Errorf("got %d entries, %v, want %d", n, err, want)
	}
	return nil
}

func wantOldest(d *desk, want string) error {
	if e, found, err := d.Peek(); e.MID != want || !found || err != nil {
		return fmt.Errorf("got %s, %t, %v, want %s", e.MID, found, err, want)
	}
	return nil
}

// allocates returns how many bytes were allocated while do ran.
func allocates(do func() error) (bytes uint64, err error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err = do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}
