package lock

import (
	"time"

	"github.com/docket-go/docket/lock/stamp"
)

// lookAgain bounds how long a place is believed by the stamp of its directory, which
// tells nothing of the directories above it.
const lookAgain = 10 * time.Millisecond

// A place is where a lock file was seen. As long as the stamp of its directory is
// the same, the file still bears its name there. The zero value knows nothing.
type place struct {
	dir  *stamp.Dir // nil: look at the names each time
	mark stamp.Mark
	seen bool // somebody looked before: the handle is used again
}

// quick reports that calls on the lock file cannot wait for a disk or a network.
func (p *place) quick() bool { return p.dir != nil }

// stands reports that the file is where it was at the last look.
func (p *place) stands() bool { return p.dir != nil && p.mark.Stands(p.dir, lookAgain) }

// prepare is called before the names are looked at.
func (p *place) prepare(d *Dir) {
	if !p.seen {
		p.seen = true // most handles are used once
		return
	}
	if p.dir == nil {
		p.dir = d.stamped()
	}
	if p.dir != nil {
		p.mark.Look(p.dir)
	}
}
