package segment

import (
	"bytes"
	"context"
	"encoding/base64"
	"iter"
)

// FindKey yields the lines whose [Schema] Key is digest, newest first. A segment
// whose filter excludes the digest is not opened; about one in a hundred of the
// others is opened in vain. After an error the iteration ends.
func (l *Log) FindKey(ctx context.Context, digest []byte) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		v, err := l.View(ctx)
		if err != nil {
			yield(Line{}, err)
			return
		}
		after, valid := v.end, true
		for i := len(v.segments) - 1; i >= 0; i-- {
			if v.excludes(i, digest) {
				valid = false
				continue
			}
			if !valid {
				if after, err = v.first(i + 1); err != nil {
					yield(Line{}, err)
					return
				}
			}
			valid = true
			more, err := v.backwardIn(ctx, i, &after, func(line Line, err error) bool {
				if line.Class != Unreadable && !line.Header {
					if key, ok := l.o.Schema.Key(line.Bytes); ok && bytes.Equal(key, digest) {
						return yield(line, err)
					}
				}
				return true
			})
			if err != nil {
				yield(Line{}, err)
				return
			}
			if !more {
				return
			}
		}
	}
}

// excludes reports that segment i cannot hold the key, as far as the header of the
// segment behind it knows.
func (v *View) excludes(i int, digest []byte) bool {
	if i+1 >= len(v.segments) || v.segments[i+1].n != v.segments[i].n+1 {
		return false
	}
	n := v.segments[i].n
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
