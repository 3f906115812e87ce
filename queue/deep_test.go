package queue_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

var queueMiB = flag.Int("queue", 64, "the size in MiB of the queue of TestMemoryOfAHugeQueue")

// A probe looks now and then at the memory that is in use while a stream is read.
type probe struct {
	t     *testing.T
	start uint64
	peak  uint64
}

func (p *probe) look() {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p.peak = max(p.peak, m.HeapAlloc)
}

// of passes a stream on, counts it, and looks at its middle and its end.
func (p *probe) of(entries iter.Seq2[queue.Entry, error], n int, count *int) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) {
		*count = 0
		for e, err := range entries {
			if err == nil {
				*count++
			}
			if *count == n/2 || *count == n {
				p.look()
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// A queue of any length (-queue 1100 is more than a gibibyte) is listed, counted, drained,
// found to be damaged and rebuilt, and what is in memory meanwhile is an entry or two.
func TestMemoryOfAHugeQueue(t *testing.T) {
	const entryBytes = 4 << 20
	n := *queueMiB << 20 / entryBytes
	d := newDesk(t, queue.Options{})
	writeHuge(t, d.path(), n, entryBytes)
	d.must((*lock.Record).Recovered)
	if info, err := os.Stat(d.path()); err != nil || info.Size() < int64(*queueMiB)<<20 {
		t.Fatalf("got %v, %v, want %d MiB", info, err, *queueMiB)
	}
	p := &probe{t: t}
	p.look()
	p.start, p.peak = p.peak, 0
	got := 0
	wantCount := func(want int, err error) {
		t.Helper()
		if got != want || err != nil {
			t.Fatalf("got %d entries, %v, want %d", got, err, want)
		}
	}
	wantCount(n, last(p.of(d.All(), n, &got)))
	if done := drainSome(d, 3, n-3); done != nil {
		t.Fatal(done)
	}
	if err := wantLen(d, n-3); err != nil {
		t.Fatal(err)
	}
	blot(t, d.path())
	if err := last(p.of(d.All(), n-4, &got)); !errors.Is(err, queue.ErrCorrupt) || got != n-4 {
		t.Fatalf("damaged: got %d entries, %v, want ErrCorrupt behind all others", got, err)
	}
	d.must(func(held *lock.Record) error {
		aside, err := d.RebuildFrom(held, p.of(sound(d.All()), n-4, &got))
		return errors.Join(err, os.Remove(aside))
	})
	wantCount(n-4, last(p.of(d.All(), n-4, &got)))
	t.Logf("%d KiB above %d", (p.peak-min(p.start, p.peak))>>10, p.start>>10)
	if bound := p.start + 8*entryBytes; p.peak > bound {
		t.Errorf("got %d bytes in use, want at most %d", p.peak, bound)
	}
}

// last returns the error with which a stream ends.
func last(entries iter.Seq2[queue.Entry, error]) (last error) {
	for _, err := range entries {
		last = err
	}
	return last
}

// sound leaves out that the file is corrupt.
func sound(entries iter.Seq2[queue.Entry, error]) iter.Seq2[queue.Entry, error] {
	return func(yield func(queue.Entry, error) bool) {
		for e, err := range entries {
			if errors.Is(err, queue.ErrCorrupt) || !yield(e, err) {
				return
			}
		}
	}
}

// writeHuge writes a list of n long entries as this package does.
func writeHuge(t *testing.T, path string, n, entryBytes int) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	e := entry("")
	e.Text = strings.Repeat("word ", entryBytes/5)
	for i := range n {
		e.MID = fmt.Sprintf("m%06d", i)
		line, err := queue.Encode(e)
		if err != nil {
			t.Fatal(err)
		}
		sep := ",\n"
		if i == 0 {
			sep = "[\n"
		}
		w.WriteString(sep)
		w.Write(line)
	}
	w.WriteString("\n]\n")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
}

// blot writes zeros over the middle of a file of entries of some MiB, in one of them.
func blot(t *testing.T, path string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		_, err = f.WriteAt(make([]byte, 4096), info.Size()/2+1<<20)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Lists in the layout of another writer are of any length too.
func TestMemoryOfAForeignQueue(t *testing.T) {
	const n, bound = 8_000, 1 << 20
	d := newDesk(t, queue.Options{})
	writeList(t, d.path(), n)
	in, err := os.Open(d.path())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := os.Create(d.path() + ".tmp")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(prettyPrint(out, in), out.Close(), os.Rename(out.Name(), d.path())); err != nil {
		t.Fatal(err)
	}
	p, got := &probe{t: t}, 0
	p.look()
	p.start, p.peak = p.peak, 0
	if err := last(p.of(d.All(), n, &got)); got != n || err != nil {
		t.Fatalf("got %d entries, %v, want %d", got, err, n)
	}
	if p.peak > p.start+bound {
		t.Errorf("got %d bytes in use, want at most %d", p.peak, p.start+bound)
	}
	if e := d.head(); e.MID != benchEntry(0).MID {
		t.Fatalf("got %+v, want the oldest", e)
	}
	if err := wantLen(d, n); err != nil {
		t.Fatal(err)
	}
}

func prettyPrint(w io.Writer, r io.Reader) error {
	dec := json.NewDecoder(r)
	if _, err := dec.Token(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	for sep := "[\n  "; dec.More(); sep = ",\n  " {
		var e map[string]any
		if err := dec.Decode(&e); err != nil {
			return err
		}
		text, err := json.MarshalIndent(e, "  ", "  ")
		if err != nil {
			return err
		}
		b.WriteString(sep)
		b.Write(text)
	}
	b.WriteString("\n]\n")
	return b.Flush()
}
