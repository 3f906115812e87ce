// Package stamp tells by one call that the names in a directory, and its own, are
// what they were at the last look.
//
// # What it keeps
//
// A [Dir] is one descriptor. A [Mark] is what somebody found out about the names, and
// the directory's change time when he looked.
//
// # Guarantees
//
// A file system gives a directory another change time when it is renamed or removed,
// and when an entry is added, removed, renamed or replaced; no program can set it
// back. [Mark.Stands] is true only where the file system is one that is known to do
// so, and where its clock had left the tick of the last change before the look. It
// tells nothing of the directories above.
//
// # Crashes
//
// Nothing is on disk.
//
// # Format
//
// There is none.
package stamp

import (
	"os"
	"time"
)

// tick is longer than the clock of a file system stands still between two ticks,
// which is 10 ms at most where it counts in less than seconds.
const tick = 50 * time.Millisecond

// A Dir is an open directory. It is safe for concurrent use.
type Dir struct {
	file    *os.File
	trusted bool
}

// Open opens a directory, which is not reached through a symbolic link at its end.
func Open(path string) (*Dir, error) {
	f, trusted, err := open(path)
	if err != nil {
		return nil, err
	}
	return &Dir{f, trusted}, nil
}

// File is the open directory.
func (d *Dir) File() *os.File { return d.file }

// Trusted reports that the file system is one whose stamps tell every change. Where
// it is not, no [Mark] ever stands.
func (d *Dir) Trusted() bool { return d.trusted }

// Close gives the descriptor back. Nothing stands behind it.
func (d *Dir) Close() error { return d.file.Close() }

// A state is what the file system says of an open directory.
type state struct {
	device, inode uint64
	changed       int64 // nanoseconds since 1970
}

// A Mark is the moment of a look at names. The zero value knows of none. It is used
// by one goroutine at a time.
type Mark struct {
	state  state
	looked time.Time // zero: the state is not to be relied on
	rest   time.Time // before it another state is not worth the asking
}

// Stands reports that whatever a look at the names found after the last [Mark.Look]
// is so still. A look that is longer ago than within does not count; zero means that
// its age does not matter.
func (m *Mark) Stands(d *Dir, within time.Duration) bool {
	if m.looked.IsZero() || (within > 0 && time.Since(m.looked) > within) {
		return false
	}
	now, err := d.state()
	return err == nil && now == m.state
}

// Look is called before the names are looked at. Every change behind it will show.
func (m *Mark) Look(d *Dir) {
	m.looked = time.Time{}
	now := time.Now()
	if !d.trusted || now.Before(m.rest) {
		return
	}
	m.rest = now.Add(tick)
	s, err := d.state()
	if err == nil && s.changed%int64(time.Second) != 0 && now.UnixNano()-s.changed > int64(tick) {
		m.state, m.looked, m.rest = s, now, time.Time{}
	}
}
