package lock

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// Where a note stands in record.lock, behind the lines of before, and what it takes.
const (
	noteAt    = 128
	noteBytes = 128
	noteSum   = 8 // hex digits of its checksum, with a space before and a line break behind
)

// MaxNoteBytes is how long a note can be.
const MaxNoteBytes = noteBytes - noteSum - 2

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Note returns what an earlier holder left with [Record.SetNote] since the machine was
// started, and "" if nobody did. It says what a program of docket wrote, whole, or
// nothing; but that may have been long ago, and of files that others changed since.
func (r *Record) Note() string {
	if r == nil || r.released {
		return ""
	}
	return noteIn(r.lock.file)
}

// NoteOf is [Record.Note] for who does not hold the record lock of the session directory
// dir: another note may be on its way. It creates nothing.
func NoteOf(dir string) string {
	f, err := os.OpenFile(filepath.Join(dir, recordFile), os.O_RDONLY|openFlags, 0)
	if err != nil {
		return ""
	}
	defer f.Close()
	return noteIn(f)
}

func noteIn(f *os.File) string {
	var line [noteBytes]byte
	if n, _ := f.ReadAt(line[:], noteAt); n < noteBytes || bootID() == unknownBoot {
		return ""
	}
	text := line[:MaxNoteBytes]
	if sum := fmt.Appendf(nil, " %08x\n", sumOfNote(text)); !bytes.Equal(sum, line[MaxNoteBytes:]) {
		return ""
	}
	return string(bytes.TrimRight(text, " "))
}

// SetNote leaves a note in the lock file, where there is room for one: text of one line,
// of at most [MaxNoteBytes], without a space at its end. It is for what the next holder
// would otherwise look up, and not for what he needs: it is not synced, and gone when the
// machine starts again. The error says that none was left; that of before may be gone.
func (r *Record) SetNote(text string) error {
	if err := r.Covers(r.lock.dir.path); err != nil {
		return err
	}
	if len(text) > MaxNoteBytes {
		return errors.New("lock: the note is too long")
	}
	line := append(make([]byte, 0, noteBytes), text...)
	line = append(line, bytes.Repeat([]byte{' '}, MaxNoteBytes-len(text))...)
	line = fmt.Appendf(line, " %08x\n", sumOfNote(line))
	if _, err := r.lock.file.WriteAt(line, noteAt); err != nil {
		return fmt.Errorf("session %s: leave a note in %s: %w", r.lock.session(), r.lock.path, err)
	}
	return nil
}

// sumOfNote is right for the running boot only.
func sumOfNote(text []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(bootID()), castagnoli), castagnoli, text)
}
