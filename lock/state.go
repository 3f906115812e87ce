package lock

import (
	"bytes"
	"io"
	"strconv"
	"sync"
)

// record.lock holds a line of stateBytes and, behind it, a mark in one as long.
const (
	stateBytes = 64
	bothBytes  = 2 * stateBytes
)

// A state is what record.lock says about the change of its last holder.
type state struct {
	dirty       bool
	generation  uint64
	boot        string // empty stands for the running one
	interrupted bool   // not on disk: dirty, of another boot, or unreadable when read
	restarted   bool   // not on disk: of another boot when read
	mark        Mark
	marked      bool // there is a mark, which an interruption makes worthless
}

// Where the fields stand in a line. They are separated by one space each.
const (
	wordEnd       = len("clean")
	generationAt  = wordEnd + 1
	generationEnd = generationAt + 20
	bootAt        = generationEnd + 1
	bootEnd       = stateBytes - 1
)

var lines = sync.Pool{New: func() any { return new([bothBytes]byte) }}

func (s *state) read(f io.ReaderAt) {
	*s = state{interrupted: true}
	line := lines.Get().(*[bothBytes]byte)
	defer lines.Put(line)
	n, _ := f.ReadAt(line[:], 0)
	if clear(line[n:]); n < stateBytes || line[wordEnd] != ' ' || line[generationEnd] != ' ' || line[bootEnd] != '\n' {
		return
	}
	generation, err := strconv.ParseUint(string(line[generationAt:generationEnd]), 10, 64)
	if err != nil {
		return
	}
	s.generation = generation
	s.dirty = string(line[:wordEnd]) != "clean"
	boot := bytes.TrimRight(line[bootAt:bootEnd], " ")
	if s.restarted = string(boot) != bootID(); s.restarted {
		s.boot = string(boot)
	}
	if s.interrupted = s.dirty || s.restarted; !s.interrupted {
		s.mark, s.marked = markIn(line[stateBytes:], line[generationAt:generationEnd])
	}
}

func (s state) write(f io.WriterAt) error {
	word, boot := "clean", s.boot
	if s.dirty {
		word = "dirty"
	}
	if boot == "" {
		boot = bootID()
	}
	line := lines.Get().(*[bothBytes]byte)
	defer lines.Put(line)
	for i := range line {
		line[i] = ' '
	}
	copy(line[:], word)
	for i, n := generationEnd-1, s.generation; i >= generationAt; i, n = i-1, n/10 {
		line[i] = byte('0' + n%10)
	}
	copy(line[bootAt:bootEnd], boot)
	line[bootEnd] = '\n'
	if s.marked {
		s.mark.put(line[stateBytes:], line[generationAt:generationEnd])
	}
	_, err := f.WriteAt(line[:], 0)
	return err
}
