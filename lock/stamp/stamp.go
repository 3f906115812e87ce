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
// so. Linux gives what somebody has looked at a time of its own since version 6.13;
// before, the clock must have left the tick of the last change when the look is made.
// A stamp tells nothing of the directories above.
//
// A directory has its new stamp a moment before others can see the new name. So a
// look counts only where whoever changes the names is kept out while it is made, as
// by a lock, or where it is believed for a bounded time.
//
// # Crashes
//
// Nothing is on disk, but for the words of a [Dir.Moment] where somebody keeps them. They
// are not to outlive the boot of the machine: what a power cut leaves of a directory may
// have an older stamp than its names.
//
// # Format
//
// There is none.
package stamp

import (
	"os"
	"strconv"
	"time"
)

// tick is longer than the clock of a file system stands still between two ticks,
// which is 10 ms at most where it counts in less than seconds, and more where the
// machine is one that another lets run.
const tick = 100 * time.Millisecond

// A Dir is an open directory. It is safe for concurrent use.
type Dir struct {
	file    *os.File
	fd      uintptr // of file; once that is closed another file, or none
	trusted bool
	tick    time.Duration // zero: a change behind a look has another time always
}

// Open opens a directory, which is not reached through a symbolic link at its end.
func Open(path string) (*Dir, error) {
	f, trusted, err := open(path)
	if err != nil {
		return nil, err
	}
	d := &Dir{file: f, fd: f.Fd(), trusted: trusted, tick: tick}
	if distinct() {
		d.tick = 0
	}
	return d, nil
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

// String says which directory it is and when its names changed last, as a [Dir.Moment].
func (s state) String() string {
	return strconv.FormatUint(s.device, 16) + " " + strconv.FormatUint(s.inode, 16) + " " + strconv.FormatInt(s.changed, 16)
}

// Moment returns words for the names as they are. As long as the machine is not started
// again, whoever gets the same words, in any process, has the same names before him: if
// they are settled. Otherwise a change that follows could leave the words as they are, or
// the directory is none whose stamps tell every change, and there are no words. Who keeps
// words with what he finds out about the names asks for them first, and looks at the
// names while nobody is in the middle of a change of them.
func (d *Dir) Moment() (words string, settled bool) {
	if !d.trusted {
		return "", false
	}
	now := time.Now()
	s, err := d.state()
	if err != nil || s.changed%int64(time.Second) == 0 {
		return "", false
	}
	return s.String(), now.UnixNano()-s.changed > int64(tick)
}

// A Mark is the moment of a look at names. The zero value knows of none. It is used
// by one goroutine at a time.
type Mark struct {
	state  state
	looked time.Time // zero: the state is not to be relied on
	rest   time.Time // before it another state is not worth the asking
	moved  state     // what Stands found instead
}

// Stands reports that whatever a look at the names found after the last [Mark.Look]
// is so still. A look that is longer ago than within does not count; zero means that
// its age does not matter.
func (m *Mark) Stands(d *Dir, within time.Duration) bool {
	if m.looked.IsZero() || (within > 0 && time.Since(m.looked) > within) {
		return false
	}
	now, err := d.state()
	if err != nil || now == m.state {
		return err == nil
	}
	m.moved = now
	return false
}

// Look is called before the names are looked at, while nobody is in the middle of a
// change of them. Every change behind it will show.
func (m *Mark) Look(d *Dir) {
	m.looked = time.Time{}
	now := time.Now()
	if !d.trusted || now.Before(m.rest) {
		return
	}
	s, err := m.moved, error(nil)
	if m.moved = (state{}); s == (state{}) {
		s, err = d.state()
	}
	m.rest = now.Add(d.tick)
	if err != nil || s.changed%int64(time.Second) == 0 {
		return
	}
	if d.tick == 0 || now.UnixNano()-s.changed > int64(d.tick) {
		m.state, m.looked, m.rest = s, now, time.Time{}
	}
}
