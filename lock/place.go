package lock

import (
	"os"
	"time"
)

const (
	// A file system stamps its files with a clock that stands still between two
	// ticks, of 10 ms at most where it counts in less than seconds.
	tick = 50 * time.Millisecond

	// lookAgain bounds how long a place is believed by its stamp: the stamp of a
	// directory tells nothing of those above it.
	lookAgain = 10 * time.Millisecond
)

// A stamp is what the file system says of an open directory. It is another one when
// the directory was renamed or removed, or an entry was added, removed or replaced.
type stamp struct {
	id      fileID
	changed int64 // nanoseconds since 1970; no program can set it
}

// A place is where a lock file was seen. As long as the stamp of its directory is
// the same, the file still bears its name there. The zero value knows nothing.
type place struct {
	dir    *os.File // nil: look at the names each time
	stamp  stamp
	looked time.Time // zero: the stamp is not to be relied on
	rest   time.Time // before it another stamp is not worth the asking
	seen   bool      // somebody looked before: the handle is used again
}

// quick reports that calls on the lock file cannot wait for a disk or a network.
func (p *place) quick() bool { return p.dir != nil }

// stands reports that the file is where it was at the last look.
func (p *place) stands() bool {
	if p.looked.IsZero() || time.Since(p.looked) > lookAgain {
		return false
	}
	now, err := stampOf(p.dir)
	return err == nil && now == p.stamp
}

// prepare notes the stamp for the look that follows. What changes behind it gives
// the directory another one, because the clock has left the tick of the last change.
func (p *place) prepare(d *Dir) {
	p.looked = time.Time{}
	if !p.seen {
		p.seen = true // most handles are used once
		return
	}
	now := time.Now()
	if now.Before(p.rest) {
		return
	}
	if p.dir == nil {
		p.dir = d.stamped()
	}
	p.rest = now.Add(tick)
	if p.dir == nil {
		return
	}
	s, err := stampOf(p.dir)
	if err != nil || s.id != d.identity || s.changed%int64(time.Second) == 0 {
		return
	}
	if now.UnixNano()-s.changed > int64(tick) {
		p.stamp, p.looked, p.rest = s, now, time.Time{}
	}
}
