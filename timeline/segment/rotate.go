package segment

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/lock/step"
)

// makeRoom opens the next segment if n more bytes would pass the bound. A segment
// that holds nothing but its header takes a line of any length.
func (l *Log) makeRoom(n int64) error {
	t := &l.tail
	if l.o.SegmentBytes <= 0 || t.end+n <= l.o.SegmentBytes {
		return nil
	}
	src := &source{n: t.n, path: t.path, file: t.file}
	first, err := firstLine(src, t.end, nil)
	if err != nil {
		return err
	}
	if looksLikeHeader(first) && int64(len(first))+1 == t.end {
		return nil
	}
	return l.rotate()
}

// rotate closes the newest segment and opens the next one.
func (l *Log) rotate() error {
	t := &l.tail
	if err := l.commits.until(l, place{t.n, t.end}); err != nil {
		return err
	}
	step.At("segment: old segment synced")
	ls, err := l.list()
	if err != nil {
		return err
	}
	l.tidy(&ls)
	n := t.n
	if err := t.drop(&l.commits); err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	return l.create(ls.segments, max(ls.top, n)+1)
}

// create makes segment n behind the given ones.
//
// The very first segment is made in place: its name is durable before its header is
// written. A crash leaves an empty file or a torn header, which the next writer
// completes. A later one is there with its whole header or not at all, and a writer
// makes its name durable before it appends the first line. In both cases a segment
// that holds more than its header needs no sync but that of its own bytes.
func (l *Log) create(earlier []entry, n uint64) error {
	// Another writer's log has no directory yet.
	if err := l.makeDir(); err != nil {
		return err
	}
	h, err := l.nextHeader(earlier)
	if err != nil {
		return err
	}
	if len(earlier) > 0 {
		if err := l.place(h, n); err != nil {
			return err
		}
		return l.adopt(append(earlier[:len(earlier):len(earlier)], entry{n: n, plain: true}), true)
	}
	f, err := l.disk.create(l.plainPath(n), os.O_RDWR|os.O_APPEND)
	if err != nil {
		return fmt.Errorf("segment: %w", full(err))
	}
	step.At("segment: first created")
	l.tail.hold(n, f)
	l.commits.enter(f, place{n, 0}, true)
	return l.begin(h, true)
}

// complete gives the newest segment, which is empty, its header.
func (l *Log) complete(earlier []entry) error {
	h, err := l.nextHeader(earlier)
	if err != nil {
		return err
	}
	return l.begin(h, firstNumbered(earlier))
}

// firstNumbered reports whether the segment behind the given ones is the first in
// the directory.
func firstNumbered(earlier []entry) bool {
	return len(earlier) == 0 || earlier[len(earlier)-1].n == 0
}

// begin makes the name of the open, empty segment durable and writes its header.
func (l *Log) begin(h *header, first bool) error {
	t := &l.tail
	if err := l.syncNames(first); err != nil {
		return errors.Join(err, t.drop(&l.commits))
	}
	t.next, t.epoch = h.First, h.Epoch
	if err := l.append(h.append(nil)); err != nil {
		return errors.Join(err, t.drop(&l.commits))
	}
	l.commits.enter(t.file, place{t.n, t.end}, true)
	step.At("segment: header written")
	return nil
}

// syncNames makes the names in the directory durable, and its own if it is new.
func (l *Log) syncNames(newDir bool) error {
	dirs := []string{l.o.Dir}
	if newDir {
		dirs = append(dirs, filepath.Dir(l.o.Dir))
	}
	for _, dir := range dirs {
		if err := l.disk.syncDir(dir); err != nil {
			return l.commits.fail(err)
		}
	}
	step.At("segment: directory synced")
	return nil
}

func (l *Log) makeDir() error {
	there, err := exists(l.o.Dir)
	if err == nil && !there {
		if err = l.present(); err != nil {
			return err
		}
		err = full(l.disk.mkdir(l.o.Dir))
		step.At("segment: directory made")
	}
	if err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	return nil
}

// nextHeader makes the header of the segment behind the given ones.
func (l *Log) nextHeader(earlier []entry) (*header, error) {
	h := &header{Time: formatTime(l.o.Now()), Version: version}
	if err := l.syncEarlier(earlier); err != nil {
		return nil, l.commits.fail(err)
	}
	base, from, err := l.newestHeader(earlier)
	if err != nil {
		return nil, err
	}
	if base != nil && base.Version > version {
		return nil, fmt.Errorf("%w: upgrade to write to %s", ErrVersion, l.o.Dir)
	}
	if h.Epoch, err = l.epoch(earlier, base); err != nil {
		return nil, err
	}
	if h.Epoch == (Epoch{}) {
		if _, err := rand.Read(h.Epoch[:]); err != nil {
			return nil, fmt.Errorf("segment: make an epoch: %w", err)
		}
	}
	return h, l.describe(h, earlier, base, from)
}

// describe fills in what the header says about the segments before it: the number
// of public lines, the digest and the keys of the last one, and the facts.
func (l *Log) describe(h *header, earlier []entry, base *header, from int) error {
	fold := l.o.Schema.Fold(nil)
	if base != nil {
		fold = l.o.Schema.Fold(base.Facts)
		h.First = base.First
	}
	for i := max(from, 0); i < len(earlier); i++ {
		src, err := l.open(earlier[i].n)
		if errors.Is(err, errMissing) {
			continue
		}
		if err != nil {
			return err
		}
		err = l.describeOne(h, src, fold)
		if err = errors.Join(err, src.Close()); err != nil {
			return err
		}
	}
	h.Facts = fold.Facts()
	h.First = max(h.First, l.tail.next)
	return nil
}

// describeOne reads one segment to its end. What it says of digest and keys is of
// the last segment that was read.
func (l *Log) describeOne(h *header, src *source, fold Fold) error {
	end, err := src.committed(0)
	if err != nil {
		return err
	}
	sum := &summing{src: src, hash: sha256.New()}
	var keys filter
	h.HasKeys = true
	next, err := l.scanFrom(sum, src, 0, end, h.First, func(line *Line) bool {
		if line.Header || line.Class == Unreadable {
			h.HasKeys = h.HasKeys && line.Header // which keys an unreadable line had is not known
			return true
		}
		fold.Add(*line)
		if digest, ok := l.key(line); ok {
			keys.add(digest)
		}
		return true
	})
	if err != nil {
		return err
	}
	h.First, h.Keys = next, keys.encode()
	if src.seal != nil && src.seal.summary != nil {
		h.Prev = src.seal.summary.Digest
		return nil
	}
	h.Prev, err = sum.finish()
	return err
}

// A summing reads a source from start to end and hashes what passes.
type summing struct {
	src  *source
	hash hash.Hash
	at   int64
	bad  bool // some range was lost
}

func (s *summing) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.src.ReadAt(p, off)
	if off == s.at {
		s.hash.Write(p[:n])
		s.at += int64(n)
	} else if off > s.at {
		s.bad = true
	}
	return n, err
}

// finish hashes what is left behind the committed bytes, and returns the digest of
// the whole segment in hex. It is empty when a range was lost.
func (s *summing) finish() (string, error) {
	size, err := s.src.size()
	if err != nil {
		return "", err
	}
	if s.bad {
		return "", nil
	}
	if _, err := io.Copy(s.hash, io.NewSectionReader(s.src, s.at, size-s.at)); errors.Is(err, ErrCorrupt) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("segment: %w", err)
	}
	return hex.EncodeToString(s.hash.Sum(nil)), nil
}
