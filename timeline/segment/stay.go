package segment

import (
	"bytes"
	"fmt"
	"os"
)

// moreBytes is how much is read at once behind what was the end, where mostly there is
// little or nothing.
const moreBytes = 4 << 10

// Stay says whether [Reader.Next] stays in the open segment, once it has found more lines
// there: then it does not look whether that is still part of the log, nor for another one.
// That is for who knows that no file of the log came or went since Next last returned
// io.EOF after it had looked. Lines that a Peek has found count as found.
func (r *Reader) Stay(stay bool) {
	r.staying, r.grew, r.peeking = stay, r.peeking && r.grew, false
}

// Peek lets [Reader.Next] give out what one read of the open segment shows, and then
// return io.EOF without any look for more, until the next Stay. That is for who does not
// know yet what happened to the log, and will call Stay once he does.
func (r *Reader) Peek() { r.peeking, r.grew = true, false }

// near looks for more in the open file alone, with one read, and reports whether that is
// enough. What is committed there is part of the log, whatever became of the file's name.
func (r *Reader) near() (more, enough bool, err error) {
	if r.src == nil || r.src.seal != nil || r.peeking && r.grew {
		return false, r.peeking, nil
	}
	more, long, err := r.scan.more(r.src.file)
	enough = more || err != nil || r.peeking || r.staying && r.grew && !long
	r.grew = more
	return more, enough, err
}

// more reads the lines that were committed behind the end since, as far as little memory
// holds them, from the plain file that is scanned, and reports whether there are any, or
// else a line that is too long for it. All that was before was given out.
func (s *scanner) more(f *os.File) (more, long bool, err error) {
	if cap(s.buf) < moreBytes {
		s.buf = make([]byte, moreBytes)
	}
	n, err := readOnce(f, s.buf[:moreBytes], s.end)
	if err != nil {
		return false, false, fmt.Errorf("segment: %w", err)
	}
	lines := bytes.LastIndexByte(s.buf[:n], '\n') + 1
	s.buf, s.pos = s.buf[:lines], 0
	s.off, s.end = s.end, s.end+int64(lines)
	return lines > 0, lines == 0 && n == moreBytes, nil
}
