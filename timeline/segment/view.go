package segment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"sort"
)

// A View is the log as it was at one moment. It holds no file open, and is safe
// for concurrent use.
type View struct {
	log       *Log
	segments  []entry
	committed int64 // of the newest segment; the others are whole
	epoch     Epoch
	end       uint64
}

// View looks at the log as it is now. The error is [ErrClosed] when the session
// directory is gone. A log that was never written is empty, not an error.
//
// A handle that looks again reads the directory only if there is a newer segment, and a
// new one only if that is short, or was changed since the last writer looked at it.
func (l *Log) View(ctx context.Context) (*View, error) {
	segments := l.memo.listed()
	if segments == nil || !l.newestStill(segments) {
		segments = l.noted()
		l.memo.keepSegments(segments)
	}
	if segments != nil && ctx.Err() == nil {
		v := &View{log: l, segments: segments}
		if err := v.look(); !errors.Is(err, errMissing) {
			return v, err
		}
	}
	return l.viewAnew(ctx)
}

// newestStill reports that no segment was added to those of an earlier listing. One
// that was taken away is found missing by who reads it.
func (l *Log) newestStill(segments []entry) bool {
	if info, err := os.Lstat(l.o.Dir); err != nil || !info.IsDir() {
		return false
	}
	next := segments[len(segments)-1].n + 1
	absent := []string{l.plainPath(next), l.sealedPath(next)}
	if l.o.Legacy != "" && segments[0].n > 0 {
		absent = append(absent, l.o.Legacy)
	}
	for _, path := range absent {
		if there, err := exists(path); there || err != nil {
			return false
		}
	}
	return true
}

// viewAnew is View by a listing of the directory.
func (l *Log) viewAnew(ctx context.Context) (*View, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ls, err := l.list()
		if err != nil {
			return nil, err
		}
		v := &View{log: l, segments: ls.segments}
		err = v.look()
		if errors.Is(err, errMissing) {
			continue // it went between the listing and the look: look again
		}
		if err != nil {
			return nil, err
		}
		l.memo.keepListing(&ls)
		return v, nil
	}
}

// look opens the newest segment, and others only where that one does not say
// enough.
func (v *View) look() error {
	if len(v.segments) == 0 {
		return nil
	}
	last := len(v.segments) - 1
	src, err := v.log.open(v.segments[last].n)
	if err != nil {
		return err
	}
	defer src.Close()
	if v.committed, err = src.committed(0); err != nil {
		return err
	}
	if err := v.lookEpoch(src); err != nil {
		return err
	}
	known := false
	if src.seal != nil && src.seal.summary != nil {
		v.end = src.seal.summary.Next
		return nil
	}
	if v.end, known, err = v.log.behind(src, v.committed, 2); err != nil || known {
		return err
	}
	before, err := v.endBefore(last)
	v.end += before
	return err
}

// lookEpoch takes the epoch from the newest segment's header, or from another.
func (v *View) lookEpoch(src *source) error {
	var head [headBytes]byte
	n, err := src.ReadAt(head[:min(v.committed, headBytes)], 0)
	if err != nil && err != io.EOF && !errors.Is(err, ErrCorrupt) {
		return fmt.Errorf("segment: %w", err)
	}
	if epoch, ok := looseEpoch(head[:n]); ok && v.log.memo.knows(epoch, src.n) {
		v.epoch = epoch
		return nil
	}
	line, err := firstLine(src, v.committed, nil)
	if err != nil {
		return err
	}
	if h, err := parseHeader(line); err == nil {
		v.epoch = h.Epoch
		v.log.memo.keep(h.Epoch, src.n, h)
		return nil
	}
	v.epoch, err = v.log.epochOf(v.segments)
	return err
}

// endBefore returns the public sequence in front of the segment at index i.
func (v *View) endBefore(i int) (uint64, error) {
	total := uint64(0)
	for i--; i >= 0; i-- {
		after, known, err := v.endIn(v.segments[i].n)
		if err != nil {
			return 0, err
		}
		total += after
		if known {
			break
		}
	}
	return total, nil
}

// endIn is Log.endIn for a segment that is not the newest. Its result, counted or
// known, is remembered.
func (v *View) endIn(n uint64) (after uint64, known bool, err error) {
	m := &v.log.memo
	if count, ok := m.count(v.epoch, n); ok {
		return count, false, nil
	}
	after, known, err = v.log.endIn(n)
	if errors.Is(err, errMissing) {
		return 0, false, nil
	}
	if err == nil && !known {
		m.keepCount(v.epoch, n, after)
	}
	return after, known, err
}

// header is headerOf through the memo: without facts and filter.
func (v *View) header(n uint64) (*header, error) {
	m := &v.log.memo
	if h, ok := m.head(v.epoch, n); ok {
		return h, nil
	}
	h, err := v.log.headerOf(n)
	if err != nil || (h == nil && n == v.Newest()) {
		return nil, err // the newest may still get one
	}
	m.keep(v.epoch, n, h)
	return h, nil
}

// Newest returns the number of the newest segment, and zero for a log without a numbered
// one.
func (v *View) Newest() uint64 {
	if len(v.segments) == 0 {
		return 0
	}
	return v.segments[len(v.segments)-1].n
}

// Epoch returns the log's epoch.
func (v *View) Epoch() Epoch { return v.epoch }

// End returns the number of public lines, which is the sequence of the next one.
func (v *View) End() uint64 { return v.end }

// first returns the public sequence in front of the segment at index i, from its
// header if it has one.
func (v *View) first(i int) (uint64, error) {
	h, err := v.header(v.segments[i].n)
	if err != nil {
		return 0, err
	}
	if h != nil {
		return h.First, nil
	}
	return v.endBefore(i)
}

// find returns the index of the last segment whose first sequence is not behind
// seq, and that first sequence.
func (v *View) find(seq uint64) (i int, first uint64, err error) {
	i = sort.Search(len(v.segments), func(i int) bool {
		f, e := v.first(i)
		if e != nil {
			err = e
		}
		return e == nil && f > seq
	})
	if err != nil {
		return 0, 0, err
	}
	i = max(0, i-1)
	first, err = v.first(i)
	return i, first, err
}

// Backward yields the lines of the view, newest first, headers included. It reads
// only what is asked for. Damaged lines and lost ranges are lines of the class
// Unreadable, not errors; after an error the iteration ends.
func (v *View) Backward(ctx context.Context) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		after := v.end
		for i := len(v.segments) - 1; i >= 0; i-- {
			more, err := v.backwardIn(ctx, i, &after, yield)
			if err != nil {
				yield(Line{}, err)
				return
			}
			if !more || !v.gap(i, after, yield) {
				return
			}
		}
	}
}

// gap yields a line in the place of segments that are missing before index i.
func (v *View) gap(i int, seq uint64, yield func(Line, error) bool) bool {
	expected := uint64(1)
	if i > 0 {
		expected = v.segments[i-1].n + 1
	}
	if n := v.segments[i].n; n <= expected {
		return true
	}
	return yield(v.log.missingLine(expected, seq), nil)
}

// missingLine is the line in the place of a segment that should be there.
func (l *Log) missingLine(n, seq uint64) Line {
	return lostLine(l.plainPath(n), n, seq, &CorruptError{Err: errMissing})
}

func (v *View) backwardIn(ctx context.Context, i int, after *uint64, yield func(Line, error) bool) (more bool, err error) {
	n := v.segments[i].n
	src, err := v.log.open(n)
	if errors.Is(err, errMissing) {
		return yield(v.log.missingLine(n, *after), nil), v.log.present()
	}
	if err != nil {
		return false, err
	}
	defer src.Close()
	end := v.committed
	if i < len(v.segments)-1 {
		if end, err = src.committed(0); err != nil {
			return false, err
		}
	}
	s := newBackScanner(src, end, blockBytes)
	defer s.close()
	var line Line
	for count := 0; ; count++ {
		if count%64 == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		raw, off, err := s.next()
		switch lost := lostRange(err); {
		case err == nil:
			v.log.fill(&line, src, raw, off, s.ending)
			before, doubt := numberBack(&line, s.ending, *after)
			if doubt {
				bound, known := v.earlier(src, i, off)
				before = settleBack(&line, *after, bound, known)
			}
			*after = before
		case lost != nil:
			line = lostLine(src.path, n, *after, lost)
		case err == io.EOF:
			return true, nil
		default:
			return false, atPath(err, src.path)
		}
		if !yield(line, nil) {
			return false, nil
		}
	}
}

// earlier returns the sequence behind the nearest line before off that bears one,
// in this segment or the one before it.
func (v *View) earlier(src *source, i int, off int64) (uint64, bool) {
	if after, known := v.log.earlierIn(src, off); known || i == 0 {
		return after, known
	}
	after, known, err := v.log.endIn(v.segments[i-1].n)
	return after, known && err == nil
}

// atPath names the file in an error about the end of its bytes.
func atPath(err error, path string) error {
	var short *CorruptError
	if errors.As(err, &short) && short.Path == "" {
		named := *short
		named.Path = path
		return &named
	}
	return err
}

// Forward yields the lines of the view from the start of the given segment to the
// end, headers included. Zero means the start of the log. Damage is treated as by
// [View.Backward].
func (v *View) Forward(ctx context.Context, segment uint64) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		r := &Reader{log: v.log, until: v}
		defer r.Close()
		if err := r.startAt(v, segment); err != nil {
			yield(Line{}, err)
			return
		}
		for {
			line, err := r.Next(ctx)
			if err == io.EOF {
				return
			}
			if !yield(line, err) || err != nil {
				return
			}
		}
	}
}

// errFuture says how far the log goes.
func (v *View) errFuture(from uint64) error {
	return fmt.Errorf("%w: asked for %d, the log ends at %d: read from there", ErrFuture, from, v.end)
}
