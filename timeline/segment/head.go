package segment

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// firstLine reads the first line of the committed bytes 0..end, without its
// newline, into buf if that has room for it. It is nil when there is none, or when it is
// too long for a header.
func firstLine(src io.ReaderAt, end int64, buf []byte) ([]byte, error) {
	start := min(end, 4<<10)
	if s, ok := src.(*source); ok && s.seal != nil && len(s.seal.frames) > 0 {
		start = min(start, s.seal.frames[0].plainBytes) // a header is a frame of its own
	}
	for size := start; ; size = min(4*size, end, maxHeaderBytes) {
		p := buf[:min(size, int64(len(buf)))]
		if size > int64(len(p)) {
			p = make([]byte, size)
		}
		n, err := src.ReadAt(p, 0)
		if i := bytes.IndexByte(p[:n], '\n'); i >= 0 {
			return p[:i], nil
		}
		var lost *CorruptError
		if errors.As(err, &lost) || size >= min(end, maxHeaderBytes) {
			return nil, nil
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("segment: %w", err)
		}
	}
}

// glance looks at the first bytes of a segment: whether the engine made it, and
// whether a later version of the format did.
func glance(src io.ReaderAt, end int64) (made, later bool, err error) {
	var head [headBytes]byte
	n, err := src.ReadAt(head[:min(end, headBytes)], 0)
	if err != nil && err != io.EOF {
		return false, false, fmt.Errorf("segment: %w", err)
	}
	line, _, _ := bytes.Cut(head[:n], []byte{'\n'})
	made, later = glanceAt(line)
	return made, later, nil
}

// glanceAt is glance for one who has the first line, or the start of it.
func glanceAt(line []byte) (made, later bool) {
	if !looksLikeHeader(line) {
		return false, false
	}
	p := headerParser{rest: line}
	_, p.rest, _ = bytes.Cut(p.rest, []byte(headerKind+`,"version":`))
	v := p.number()
	return true, p.err == nil && v > version
}

// headerIn reads and parses the header of an open segment.
func headerIn(src *source) (*header, error) {
	end, err := src.size()
	if err != nil {
		return nil, err
	}
	line, err := firstLine(src, end, nil)
	if err != nil {
		return nil, err
	}
	return parseHeader(line)
}

// headerOf reads the header of segment n. It is nil where the segment has none, a
// damaged one, or no file.
func (l *Log) headerOf(n uint64) (*header, error) {
	if n == 0 {
		return nil, nil
	}
	src, err := l.open(n)
	if errors.Is(err, errMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer src.Close()
	h, err := headerIn(src)
	if errors.Is(err, errNoHeader) || errors.Is(err, errBadHeader) {
		return nil, nil
	}
	return h, err
}

// newestHeader returns the header nearest to the end of the segments and the index
// of its segment, or nil and -1.
func (l *Log) newestHeader(segments []entry) (*header, int, error) {
	for i := len(segments) - 1; i >= 0; i-- {
		h, err := l.headerOf(segments[i].n)
		if h != nil || err != nil {
			return h, i, err
		}
	}
	return nil, -1, nil
}

// epochOf returns the epoch of the log that the segments make up.
func (l *Log) epochOf(segments []entry) (Epoch, error) {
	h, _, err := l.newestHeader(segments)
	if err != nil {
		return Epoch{}, err
	}
	return l.epoch(segments, h)
}

// epoch returns the epoch that the newest header names. A log that another writer
// started and no header names yet has the first half of the SHA-256 of its first
// line. A log without a line has the zero epoch.
func (l *Log) epoch(segments []entry, newest *header) (Epoch, error) {
	if newest != nil {
		return newest.Epoch, nil
	}
	for _, e := range segments {
		line, err := l.firstCommitted(e.n)
		if err != nil {
			return Epoch{}, err
		}
		if line == nil {
			continue
		}
		return epochAt(line), nil
	}
	return Epoch{}, nil
}

// epochAt returns the epoch of a log by its first line, which is a header, whole or
// damaged, or a line of another writer.
func epochAt(first []byte) Epoch {
	if epoch, ok := looseEpoch(first); ok {
		return epoch
	}
	sum := sha256.Sum256(first)
	return Epoch(sum[:len(Epoch{})])
}

// firstCommitted returns the first line of segment n, nil if it has none.
func (l *Log) firstCommitted(n uint64) ([]byte, error) {
	src, err := l.open(n)
	if errors.Is(err, errMissing) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer src.Close()
	end, err := src.committed(0)
	if err != nil {
		return nil, err
	}
	var s scanner
	s.reset(src, 0, end)
	line, _, err := s.next()
	var lost *CorruptError
	if err == io.EOF || errors.As(err, &lost) {
		return nil, nil
	}
	return line, err
}
