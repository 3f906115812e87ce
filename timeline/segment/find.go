package segment

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"iter"
)

// FindKey yields the lines whose [Schema] Key is digest, newest first. Every such line
// that Write was given holds text; nil says nothing about them. Among them FindKey
// yields a line of the class Unreadable for everything that is damaged or missing
// where such a line could have been, without Bytes where more than a line is gone. A
// segment whose filter excludes the digest is not opened; about one in five thousand
// of the others is opened in vain. One that should have such a line and has none is held
// against its digest: what was in it may be what was changed. A handle that looks again
// remembers which keys the newest segment has. After an error the iteration ends.
func (l *Log) FindKey(ctx context.Context, digest, text []byte) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		v, err := l.View(ctx)
		if err != nil {
			yield(Line{}, err)
			return
		}
		s := keySearch{view: v, digest: digest, text: text, yield: yield, after: v.end, known: true}
		for i := len(v.segments) - 1; i >= 0; i-- {
			more, err := s.segment(ctx, i)
			if err != nil {
				yield(Line{}, err)
				return
			}
			if !more || !s.gap(i) {
				return
			}
		}
		l.recent.oversee(v)
	}
}

// A keySearch is one walk of FindKey.
type keySearch struct {
	view   *View
	digest []byte
	text   []byte
	yield  func(Line, error) bool
	after  uint64 // the public sequence behind the next segment
	known  bool   // after is right: no segment was passed over
}

// segment searches the segment at index i, unless it cannot hold the key.
func (s *keySearch) segment(ctx context.Context, i int) (more bool, err error) {
	v := s.view
	listed, known := v.lists(v.segments[i].n, s.digest)
	if i == len(v.segments)-1 {
		absent, err := v.log.recent.excludes(v, s.digest)
		if err != nil {
			return false, err
		}
		known = absent
	}
	if known && !listed {
		s.known = false
		return true, nil
	}
	if !s.known {
		if s.after, err = v.first(i + 1); err != nil {
			return false, err
		}
	}
	s.known = true
	found := false
	more, err = v.backwardIn(ctx, i, &s.after, func(line Line, err error) bool {
		if line.Class == Unreadable {
			return s.yield(line, err)
		}
		if line.Header || line.Intact && !bytes.Contains(line.Bytes, s.text) {
			return true
		}
		if key, ok := v.log.o.Schema.Key(line.Bytes); ok && bytes.Equal(key, s.digest) {
			found = true
			return s.yield(line, err)
		}
		return true
	})
	if err != nil || !more || !listed || found {
		return more, err
	}
	return s.unchanged(v.segments[i].n)
}

// unchanged yields a line in the place of segment n if its bytes are not those that
// the header behind it speaks of.
func (s *keySearch) unchanged(n uint64) (more bool, err error) {
	l := s.view.log
	h, err := l.headerOf(n + 1)
	if err != nil || h == nil || h.Prev == "" {
		return true, err
	}
	src, err := l.open(n)
	if errors.Is(err, errMissing) {
		return true, nil // which was yielded already
	}
	if err != nil {
		return false, err
	}
	sum := &summing{src: src, hash: sha256.New()}
	digest, err := sum.finish()
	if err = errors.Join(err, src.Close()); err != nil || digest == h.Prev {
		return true, err
	}
	return s.yield(lostLine(src.path, n, s.after, &CorruptError{Err: errAltered}), nil), nil
}

// gap yields a line in the place of segments that are missing before index i, unless
// it is a single one that cannot have held the key.
func (s *keySearch) gap(i int) bool {
	n := s.view.segments[i].n
	before := uint64(0)
	if i > 0 {
		before = s.view.segments[i-1].n
	}
	if n == before+2 {
		if listed, known := s.view.lists(n-1, s.digest); known && !listed {
			return true
		}
	}
	return s.view.gap(i, s.after, s.yield)
}

// lists reports whether segment n held the key when the next one was begun, by the
// filter in the header of that one; known is false where there is none. About one in
// five thousand is listed without having been there.
func (v *View) lists(n uint64, digest []byte) (listed, known bool) {
	if n == v.Newest() {
		return false, false
	}
	bits, ok := v.log.memo.filter(v.epoch, n)
	if !ok {
		h, err := v.log.headerOf(n + 1)
		if err != nil || h == nil || !h.HasKeys {
			return false, false
		}
		if bits, err = base64.StdEncoding.AppendDecode(nil, h.Keys); err != nil {
			return false, false
		}
		v.log.memo.keepFilter(v.epoch, n, bits)
	}
	return !excludes(bits, digest), true
}
