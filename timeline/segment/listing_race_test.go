package segment_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// Segments are sealed as fast as they are made, while readers list the directory
// over and over: to read all, to read the end, to go from one segment to the next.
// None of them ever misses a segment because its name changed under the listing.
func TestSealingUnderReaders(t *testing.T) {
	const lines = 320
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 300})
	defer f.close()
	f.speedUp(t)
	f.write(t, public("m0"))
	done := make(chan struct{})
	var all sync.WaitGroup
	until := func(work func() error) {
		all.Go(func() {
			for {
				if err := work(); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	until(func() error { _, err := f.log.Seal(context.Background(), f.locks); return err })
	log := f.handle(t)
	until(func() error { return wholeLog(log) })
	for range 3 {
		until(func() error { return wholeEnd(log, 5) })
	}
	follower, err := f.handle(t).Reader(context.Background(), 0)
	must(t, err)
	defer follower.Close()
	followed := 0
	until(func() error { return consecutive(follower, &followed) })
	for i := 1; i < lines; i++ {
		f.write(t, public(fmt.Sprint("m", i)))
	}
	close(done)
	all.Wait()
	must(t, consecutive(follower, &followed))
	if followed != lines {
		t.Errorf("the follower got %d lines, want %d", followed, lines)
	}
}

// consecutive reads a reader to the end of the log: every line is the one behind
// the last.
func consecutive(r *segment.Reader, next *int) error {
	items, bad, err := drain(r)
	if err != nil {
		return err
	}
	for _, line := range bad {
		return fmt.Errorf("at line %d: %w", *next, line.Err)
	}
	for _, it := range items {
		if want := (item{fmt.Sprint("m", *next), true, uint64(*next)}); it != want {
			return fmt.Errorf("got %v, want %v", it, want)
		}
		*next++
	}
	return nil
}

// wholeLog reads a log from its start to an end that is no nearer than the one that
// was seen before.
func wholeLog(log *segment.Log) error {
	v, err := log.View(context.Background())
	if err != nil {
		return err
	}
	r, err := log.Reader(context.Background(), 0)
	if err != nil {
		return err
	}
	defer r.Close()
	n := 0
	if err := consecutive(r, &n); err != nil {
		return err
	}
	if uint64(n) < v.End() {
		return fmt.Errorf("read %d lines of %d", n, v.End())
	}
	return nil
}

// wholeEnd reads the last lines of a log backward.
func wholeEnd(log *segment.Log, lines int) error {
	v, err := log.View(context.Background())
	if err != nil {
		return err
	}
	next := v.End()
	for line, err := range v.Backward(context.Background()) {
		switch {
		case err != nil:
			return err
		case line.Err != nil:
			return fmt.Errorf("backward at line %d: %w", next, line.Err)
		case line.Class != segment.Public:
			continue
		case line.Seq != next-1:
			return fmt.Errorf("backward: got line %d before line %d", line.Seq, next)
		}
		if next, lines = line.Seq, lines-1; lines == 0 {
			return nil
		}
	}
	return nil
}

// missing makes every n-th reading of the directory miss the segments from..to under
// both names, as a reading may while they are sealed.
func missing(log *segment.Log, every, from, to int) {
	readings := 0
	log.SetDisk(segment.Disk{ReadDir: func(d *os.File) ([]os.DirEntry, error) {
		entries, err := d.ReadDir(-1)
		if readings++; readings%every != 0 {
			return entries, err
		}
		return slices.DeleteFunc(entries, func(e os.DirEntry) bool {
			var n int
			_, err := fmt.Sscanf(e.Name(), "%012d.ndjson", &n)
			return err == nil && from <= n && n <= to
		}), err
	}})
}

// fromTop returns the number of a segment that may be counted from the newest.
func fromTop(f *fixture, n int) int {
	if n > 0 {
		return n
	}
	for top := 1; ; top++ {
		if isNotExist(segmentPath(f, top+1)) {
			return top + n
		}
	}
}

// Whatever a reading of the directory misses, no reader, no writer and no check
// takes it for a segment that is not there.
func TestReadingOfTheDirectoryMissesSegments(t *testing.T) {
	const lines = 300
	for _, tt := range []struct {
		name            string
		every, from, to int // from and to count from the newest where they are not positive
	}{
		{"the first", 1, 1, 1},
		{"some in the middle", 1, 17, 23},
		{"the newest", 1, 0, 0},
		{"the newest two of them", 1, -1, 0},
		{"nearly all", 2, 2, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 300})
			defer f.close()
			f.speedUp(t)
			for i := range lines {
				f.write(t, fmt.Sprintf(`{"kind":"p","id":"m%d","key":"k%d"}`, i, i))
			}
			log := f.handle(t)
			missing(log, tt.every, fromTop(f, tt.from), fromTop(f, tt.to))
			must(t, wholeLog(log))
			must(t, wholeEnd(log, lines))
			if notes, damage := verify(t, log); len(notes) > 0 || len(damage) > 0 {
				t.Errorf("verify: got %v %v", notes, damage)
			}
			for _, i := range []int{0, 20, lines - 1} {
				digest, _ := testSchema{}.Key(fmt.Appendf(nil, `{"key":"k%d"}`, i))
				found := 0
				for _, err := range log.FindKey(context.Background(), digest, nil) {
					must(t, err)
					found++
				}
				if found != 1 {
					t.Errorf("key %d: found %d times, want once", i, found)
				}
			}
			f.log = log
			if w := f.write(t, public(fmt.Sprint("m", lines))); w.First != lines {
				t.Errorf("the next line: got sequence %d, want %d", w.First, lines)
			}
			must(t, wholeLog(log))
		})
	}
}

// A segment that is really gone is said to be missing by everyone who passes its
// place, however often the directory is read.
func TestSegmentIsReallyMissing(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 300})
	defer f.close()
	f.speedUp(t)
	for i := range 300 {
		f.write(t, public(fmt.Sprint("m", i)))
	}
	must(t, os.Remove(segmentPath(f, 290)))
	log := f.handle(t)
	forward, bad := readFrom(t, log, 0)
	if len(forward) != 299 || len(bad) != 1 || !strings.Contains(bad[0].Err.Error(), segmentPath(f, 290)) {
		t.Errorf("forward: got %d lines, damage %v", len(forward), bad)
	}
	backward, bad := readBack(t, log)
	if len(backward) != 299 || len(bad) != 1 || !strings.Contains(bad[0].Err.Error(), segmentPath(f, 290)) {
		t.Errorf("backward: got %d lines, damage %v", len(backward), bad)
	}
	if _, damage := verify(t, log); len(damage) == 0 || !strings.HasPrefix(damage[0], filepath.Base(segmentPath(f, 290))) {
		t.Errorf("verify: got %v", damage)
	}
	for i := 1; i < 290; i++ { // more holes than are looked up one by one
		must(t, os.Remove(segmentPath(f, i)))
	}
	rest, bad := readFrom(t, log, 0)
	if len(rest) == 0 || rest[len(rest)-1].id != "m299" || len(bad) != 1 {
		t.Errorf("nearly all gone: got %d lines, damage %v", len(rest), bad)
	}
}
