package segment

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"unicode/utf8"
)

// A Severity says how bad a [Fault] is.
type Severity int

const (
	// Note is what the next writer or Seal repairs, or what only limits how much
	// can be checked.
	Note Severity = iota
	// Damage is lost or changed data.
	Damage
)

// String returns the word for s.
func (s Severity) String() string {
	if s == Note {
		return "note"
	}
	return "damage"
}

// A Fault is one thing that [Log.Verify] found.
type Fault struct {
	Path     string
	Segment  uint64
	Offset   int64 // in the uncompressed segment
	Severity Severity
	Err      error
}

// Verify reads the whole log and yields everything that is not as it should be:
// lines that cannot be read, also where they fit their checksum, sequences that jump
// or go back, segments that are missing or whose bytes are not those that the header behind them names, sealed
// files that do not decode to what they say. It needs no lock and a bounded
// amount of memory. An error as the second value ended the reading.
func (l *Log) Verify(ctx context.Context) iter.Seq2[Fault, error] {
	return func(yield func(Fault, error) bool) {
		v := &verifier{log: l, ctx: ctx, yield: yield}
		if err := v.run(); err != nil && !v.stopped {
			yield(Fault{}, err)
		}
	}
}

// A verifier is one walk along the log.
type verifier struct {
	log     *Log
	ctx     context.Context
	yield   func(Fault, error) bool
	stopped bool

	view   *View
	src    *source
	before bool   // a segment was read before this one
	whole  bool   // and it is the one with the number before
	digest string // its digest; empty when that is not known
	next   uint64 // public lines so far
	summed bool   // a line with a checksum came before
	lines  int
}

// report yields a fault in the open segment.
func (v *verifier) report(s Severity, off int64, format string, args ...any) {
	v.fault(Fault{Path: v.src.path, Segment: v.src.n, Offset: off, Severity: s, Err: fmt.Errorf(format, args...)})
}

func (v *verifier) fault(f Fault) {
	if !v.stopped {
		v.stopped = !v.yield(f, nil)
	}
}

func (v *verifier) run() error {
	ls, err := v.log.list()
	if err != nil {
		return err
	}
	for _, path := range ls.odd {
		v.fault(Fault{Path: path, Severity: Damage, Err: errors.New("is not a plain file")})
	}
	for _, path := range ls.drafts {
		v.fault(Fault{Path: path, Severity: Note, Err: errors.New("left behind by a seal or a rotation that did not end")})
	}
	if v.view, err = v.log.viewAnew(v.ctx); err != nil {
		return err
	}
	for i := range v.view.segments {
		if v.stopped {
			return nil
		}
		if err := v.segment(i); err != nil {
			return err
		}
	}
	return nil
}

// segment checks the segment at index i of the view.
func (v *verifier) segment(i int) error {
	n := v.view.segments[i].n
	v.gap(i, n)
	src, err := v.log.open(n)
	if errors.Is(err, errMissing) {
		v.whole = false
		v.fault(Fault{Path: v.log.plainPath(n), Segment: n, Severity: Damage, Err: errMissing})
		return v.log.present()
	}
	if err != nil {
		return err
	}
	defer src.Close()
	v.src = src
	end := v.view.committed
	if newest := i == len(v.view.segments)-1; !newest {
		if end, err = src.committed(0); err != nil {
			return err
		}
	}
	if err := v.lookAtEnds(end); err != nil {
		return err
	}
	sum := &summing{src: src, hash: sha256.New()}
	first := v.next
	if v.next, err = v.log.scanFrom(sum, src, 0, end, v.next, v.line); err != nil {
		return atPath(err, src.path)
	}
	if v.stopped {
		return v.ctx.Err()
	}
	if v.digest, err = sum.finish(); err != nil {
		return err
	}
	v.before, v.whole = true, true
	return errors.Join(v.sealed(first), v.twice(v.view.segments[i]))
}

// gap reports the numbers that are missing before segment n.
func (v *verifier) gap(i int, n uint64) {
	expected := uint64(1)
	if i > 0 {
		expected = v.view.segments[i-1].n + 1
	}
	if n <= expected {
		return
	}
	v.whole = false
	err := fmt.Errorf("%w: %d to %d are not there", errMissing, expected, n-1)
	v.fault(Fault{Path: v.log.plainPath(expected), Segment: expected, Severity: Damage, Err: err})
}

// lookAtEnds checks what the segment starts with and what is behind its last newline.
func (v *verifier) lookAtEnds(end int64) error {
	size, err := v.src.size()
	if err != nil {
		return err
	}
	if size > end {
		v.report(Note, end, "%d bytes behind the last newline were never committed", size-end)
	}
	if v.src.n == 0 {
		return nil
	}
	line, err := firstLine(v.src, end, nil)
	if err != nil {
		return err
	}
	switch _, numbered := seqOf(line); {
	case looksLikeHeader(line):
	case end == 0 && v.before:
		v.report(Damage, 0, "is empty or cut in its header: what was in it is gone")
	case size == 0:
		v.report(Note, 0, "is empty: the next writer puts a header into it")
	case end == 0: // the torn header of the first segment
	case numbered:
		v.report(Damage, 0, "starts with a line that stood behind others: its header is gone")
	default:
		v.report(Note, 0, "has no header: the chain of digests cannot be checked here")
	}
	return nil
}

// line checks one line and reports whether to go on.
func (v *verifier) line(line *Line) bool {
	if v.lines++; v.lines%64 == 0 && v.ctx.Err() != nil {
		v.stopped = true
		v.yield(Fault{}, v.ctx.Err())
	}
	if v.stopped {
		return false
	}
	switch {
	case line.Err != nil:
		v.report(Damage, line.Offset, "%w", line.Err)
		return !v.stopped
	case !utf8.Valid(line.Bytes):
		v.report(Damage, line.Offset, "invalid UTF-8")
	case !json.Valid(line.Bytes):
		v.report(Damage, line.Offset, "invalid JSON")
	case line.Intact && v.log.o.Schema.Classify(line.Bytes) == Unreadable:
		v.report(Damage, line.Offset, "%w, though it fits its checksum", errForeign)
	}
	if s := sumOf(line.Bytes); s == rightSum {
		v.summed = true
	} else if v.summed && !line.Header && endsOddly(line.Bytes) {
		v.report(Damage, line.Offset, "the checksum or the sequence at the end of the line was changed")
	}
	if own, ok := seqOf(line.Bytes); ok && own != v.next {
		v.report(Damage, line.Offset, "bears sequence %d where %d is expected", own, v.next)
	}
	v.next = line.Seq + width(line)
	if line.Header {
		v.header(line.Bytes)
	}
	return !v.stopped
}

// header checks what a header says about the segment before it.
func (v *verifier) header(raw []byte) {
	h, err := parseHeader(raw)
	if err != nil {
		v.report(Damage, 0, "%w", err)
		return
	}
	if h.Version > version {
		v.report(Note, 0, "%w", ErrVersion)
	}
	if h.Epoch != v.view.epoch {
		v.report(Damage, 0, "belongs to epoch %s, the log to %s", h.Epoch, v.view.epoch)
	}
	switch {
	case h.Prev == "" && v.before:
		v.report(Note, 0, "does not name the digest of the segment before it")
	case h.Prev != "" && !v.before:
		v.report(Damage, 0, "there was a segment before it, which is missing")
	case v.whole && v.digest != "" && h.Prev != "" && h.Prev != v.digest:
		v.report(Damage, 0, "the segment before it was changed: its SHA-256 is %s, not %s", v.digest, h.Prev)
	}
}

// sealed checks what a sealed segment says of itself.
func (v *verifier) sealed(first uint64) error {
	z := v.src.seal
	if z == nil {
		return nil
	}
	s := z.summary
	switch {
	case s == nil && len(z.frames) > 0 && z.frames[0].start > 0:
		v.report(Damage, 0, "%w: the segment can still be read", errNoSummary)
		return nil
	case s == nil:
		v.report(Note, 0, "was compressed by another program: it has no summary to check")
		return nil
	case s.Segment != v.src.n:
		v.report(Damage, 0, "is sealed as segment %d", s.Segment)
	case s.First != first || s.Next != v.next:
		v.report(Damage, 0, "is sealed as sequences %d to %d, holds %d to %d", s.First, s.Next, first, v.next)
	case v.digest != "" && s.Digest != v.digest:
		v.report(Damage, 0, "its SHA-256 is %s, sealed as %s", v.digest, s.Digest)
	}
	sum := crc32.New(castagnoli)
	start, size := z.summaryBytes(), v.src.info.Size()
	if _, err := io.Copy(sum, io.NewSectionReader(v.src.file, start, size-start)); err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	if sum.Sum32() != s.Packed {
		v.report(Damage, 0, "the compressed bytes or the seek table were changed")
	}
	return nil
}

// twice compares the two forms of a segment where both are present.
func (v *verifier) twice(e entry) error {
	if !e.plain || !e.sealed || v.src.seal != nil {
		return nil
	}
	err := v.log.compare(v.ctx, v.src, v.log.sealedPath(e.n))
	switch {
	case err == nil:
		v.report(Note, 0, "is there sealed too, with the same bytes: the next Seal removes one")
	case errors.Is(err, errOvertaken), v.ctx.Err() != nil:
		return v.ctx.Err()
	default:
		v.report(Damage, 0, "the sealed form beside it is another: %w", err)
	}
	return nil
}
