package lock

import (
	"bytes"
	"io"
	"strconv"
)

const stateBytes = 64

// A state is what record.lock says about the change of its last holder.
type state struct {
	dirty       bool
	generation  uint64
	boot        string // empty stands for the running one
	interrupted bool   // not on disk: dirty, of another boot, or unreadable when read
	restarted   bool   // not on disk: of another boot when read
}

// Where the fields stand in a line. They are separated by one space each.
const (
	wordEnd       = len("clean")
	generationAt  = wordEnd + 1
	generationEnd = generationAt + 20
	bootAt        = generationEnd + 1
	bootEnd       = stateBytes - 1
)

func (s *state) read(f io.ReaderAt) {
	*s = state{interrupted: true}
	var line [stateBytes]byte
	if _, err := f.ReadAt(line[:], 0); err != nil || line[wordEnd] != ' ' || line[generationEnd] != ' ' || line[bootEnd] != '\n' {
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
	s.interrupted = s.dirty || s.restarted
}

func (s state) write(f io.WriterAt) error {
	word, boot := "clean", s.boot
	if s.dirty {
		word = "dirty"
	}
	if boot == "" {
		boot = bootID()
	}
	line := bytes.Repeat([]byte{' '}, stateBytes)
	copy(line, word)
	for i, n := generationEnd-1, s.generation; i >= generationAt; i, n = i-1, n/10 {
		line[i] = byte('0' + n%10)
	}
	copy(line[bootAt:bootEnd], boot)
	line[bootEnd] = '\n'
	_, err := f.WriteAt(line, 0)
	return err
}
