package segment

import (
	"bytes"
	"context"
	"encoding/base64"
	"iter"
)

// FindKey yields the lines whose [Schema] Key is digest, newest first. Among them it
// yields a line of the class Unreadable for everything that is damaged or missing
// where such a line could have been. A segment whose filter excludes the digest is
// not opened; about one in a hundred of the others is opened in vain. After an
// error the iteration ends.
func (l *Log) FindKey(ctx context.Context, digest []byte) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		v, err := l.View(ctx)
		if err != nil {
			yield(Line{}, err)
			return
		}
		s := keySearch{view: v, digest: digest, yield: yield, after: v.end, known: true}
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
	}
}

// A keySearch is one walk of FindKey.
type keySearch struct {
	view   *View
	digest []byte
	yield  func(Line, error) bool
	after  uint64 // the public sequence behind the next segment
	known  bool   // after is right: no segment was passed over
}

// segment searches the segment at index i, unless it cannot hold the key.
func (s *keySearch) segment(ctx context.Context, i int) (more bool, err error) {
	v := s.view
	if v.excludes(v.segments[i].n, s.digest) {
		s.known = false
		return true, nil
	}
	if !s.known {
		if s.after, err = v.first(i + 1); err != nil {
			return false, err
		}
	}
	s.known = true
	return v.backwardIn(ctx, i, &s.after, func(line Line, err error) bool {
		if line.Class == Unreadable {
			return s.yield(line, err)
		}
		if key, ok := v.log.o.Schema.Key(line.Bytes); ok && !line.Header && bytes.Equal(key, s.digest) {
			return s.yield(line, err)
		}
		return true
	})
}

// gap yields a line in the place of segments that are missing before index i, unless
// it is a single one that cannot have held the key.
func (s *keySearch) gap(i int) bool {
	n := s.view.segments[i].n
	before := uint64(0)
	if i > 0 {
		before = s.view.segments[i-1].n
	}
	if n == before+2 && s.view.excludes(n-1, s.digest) {
		return true
	}
	return s.view.gap(i, s.after, s.yield)
}

// excludes reports that segment n cannot hold the key, as far as the header of the
// segment behind it knows.
func (v *View) excludes(n uint64, digest []byte) bool {
	if n == v.newestNumber() {
		return false
	}
	bits, ok := v.log.memo.filter(v.epoch, n)
	if !ok {
		h, err := v.log.headerOf(n + 1)
		if err != nil || h == nil || !h.HasKeys {
			return false
		}
		if bits, err = base64.StdEncoding.AppendDecode(nil, h.Keys); err != nil {
			return false
		}
		v.log.memo.keepFilter(v.epoch, n, bits)
	}
	return excludes(bits, digest)
}
