package lock

import (
	"fmt"
	"io"
	"strconv"
	"strings"
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

func (s *state) read(f io.ReaderAt) {
	*s = state{interrupted: true}
	var line [stateBytes]byte
	if _, err := f.ReadAt(line[:], 0); err != nil {
		return
	}
	fields := strings.Fields(string(line[:]))
	if len(fields) != 3 || line[stateBytes-1] != '\n' {
		return
	}
	generation, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return
	}
	s.generation = generation
	s.dirty = fields[0] != "clean"
	s.restarted = fields[2] != bootID()
	if s.restarted {
		s.boot = fields[2]
	}
	s.interrupted = s.dirty || s.restarted
}

func (s state) write(f io.WriterAt) error {
	word := "clean"
	if s.dirty {
		word = "dirty"
	}
	boot := s.boot
	if boot == "" {
		boot = bootID()
	}
	_, err := f.WriteAt(fmt.Appendf(nil, "%s %020d %-36.36s\n", word, s.generation, boot), 0)
	return err
}
