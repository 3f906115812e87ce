package queue_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

var depths = []int{1, 100, 10_000}

// deep returns a queue that holds n entries of 300 bytes.
func deep(b *testing.B, n int) (*desk, *lock.Record) {
	d := newDesk(b, queue.Options{})
	held, err := d.Locks().Record(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { held.Release() })
	for i := range n {
		if err := d.Enqueue(held, benchEntry(i)); err != nil {
			b.Fatal(err)
		}
	}
	return d, held
}

func benchEntry(i int) queue.Entry {
	e := entry(fmt.Sprintf("01934a5b-7e1c-7000-8000-%012d", i))
	e.Text += fmt.Sprintf("%0200d", i)
	return e
}

// BenchmarkWrite is the limit: one write of an entry.
func BenchmarkWrite(b *testing.B) {
	f, err := os.Create(filepath.Join(b.TempDir(), "f"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	line := make([]byte, 300)
	at := int64(0)
	for b.Loop() {
		if _, err := f.WriteAt(line, at); err != nil {
			b.Fatal(err)
		}
		at += 300
	}
}

// BenchmarkEnqueue adds to a queue of a depth, on a held handle.
func BenchmarkEnqueue(b *testing.B) {
	for _, n := range depths {
		b.Run(fmt.Sprint("depth=", n), func(b *testing.B) {
			d, held := deep(b, n)
			e := benchEntry(0)
			for b.Loop() {
				if err := d.Enqueue(held, e); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReserve is what Enqueue costs more when nothing may fail after a record of
// the message was written.
func BenchmarkReserve(b *testing.B) {
	d, held := deep(b, 100)
	e := benchEntry(0)
	for b.Loop() {
		if err := d.Reserve(held, e); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEnqueueRemove adds one and removes the oldest, so that the depth stays;
// compaction is included.
func BenchmarkEnqueueRemove(b *testing.B) {
	for _, n := range depths {
		b.Run(fmt.Sprint("depth=", n), func(b *testing.B) {
			d, held := deep(b, n)
			next := n
			for b.Loop() {
				if err := d.Enqueue(held, benchEntry(next)); err != nil {
					b.Fatal(err)
				}
				next++
				e, _, err := d.Head(held)
				if err == nil {
					err = d.Remove(held, e.MID)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFirstAndLast is the way of one message through an empty queue: the file
// comes and goes.
func BenchmarkFirstAndLast(b *testing.B) {
	d, held := deep(b, 0)
	e := benchEntry(0)
	for b.Loop() {
		if err := d.Enqueue(held, e); err != nil {
			b.Fatal(err)
		}
		if err := d.Remove(held, e.MID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFreshHandle adds with a handle that has not seen the file.
func BenchmarkFreshHandle(b *testing.B) {
	for _, n := range depths {
		b.Run(fmt.Sprint("depth=", n), func(b *testing.B) {
			d, held := deep(b, n)
			if err := held.Recovered(); err != nil {
				b.Fatal(err)
			}
			e := benchEntry(0)
			for b.Loop() {
				q, err := queue.Open(d.dir, queue.Options{Locks: d.Locks()})
				if err != nil {
					b.Fatal(err)
				}
				if err := q.Enqueue(held, e); err != nil {
					b.Fatal(err)
				}
				if err := q.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDrain hands 1,000 entries over to an agent that takes them at once.
func BenchmarkDrain(b *testing.B) {
	const n = 1000
	d := newDesk(b, queue.Options{})
	pass, err := d.Locks().Delivery(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer pass.Release()
	h := queue.Handover{
		Insert: func(context.Context, queue.Entry) (queue.Answer, error) { return queue.Taken, nil },
	}
	var spent time.Duration
	for b.Loop() {
		b.StopTimer()
		for i := range n {
			d.must(func(held *lock.Record) error { return d.Enqueue(held, benchEntry(i)) })
		}
		b.StartTimer()
		start := time.Now()
		got, err := d.Drain(b.Context(), pass, h)
		spent += time.Since(start)
		if err != nil || len(got.MIDs) != n {
			b.Fatalf("got %d handed over, %v", len(got.MIDs), err)
		}
	}
	b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N*n), "ns/message")
}

// BenchmarkSendAndHandOver is the way of one message while others wait behind a busy
// agent, locks included: enqueue, claim of the oldest, hand-over, removal.
func BenchmarkSendAndHandOver(b *testing.B) {
	for _, n := range []int{0, 100, 10_000} {
		b.Run(fmt.Sprint("depth=", n), func(b *testing.B) {
			d, held := deep(b, n)
			held.Release()
			next := n
			for b.Loop() {
				d.must(func(held *lock.Record) error { return d.Enqueue(held, benchEntry(next)) })
				next++
				handed := 0
				_, err := d.drain(queue.Handover{
					Insert: func(context.Context, queue.Entry) (queue.Answer, error) {
						if handed++; handed > 1 {
							return queue.Refused, errBusy
						}
						return queue.Taken, nil
					},
				})
				if err != nil && !errors.Is(err, errBusy) {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLine reads one line the short way and the long one.
func BenchmarkLine(b *testing.B) {
	line, err := queue.Encode(benchEntry(0))
	if err != nil {
		b.Fatal(err)
	}
	b.Run("own", func(b *testing.B) {
		for b.Loop() {
			queue.DecodeOwn(line)
		}
	})
	b.Run("any", func(b *testing.B) {
		for b.Loop() {
			queue.DecodeAny(line)
		}
	})
}
