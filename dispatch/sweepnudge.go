package dispatch

import (
	"container/heap"
	"sync"
	"time"

	"github.com/docket-go/docket/timeline/session"
)

// Nudge asks for a pass for the session id at once, whatever its back-off says, as its
// sender would make one: for who accepted a message with [Message.NoDrain] beside a
// Sweeper that runs. It waits for nothing and promises nothing more than Run does; a
// nudge before Run is heeded when that begins, and one for a session that owes
// nothing, or is not there, does nothing. Any number of nudges for a session that is
// being worked on are one more pass. It is safe for concurrent use.
func (s *Sweeper) Nudge(id string) {
	if session.ValidID(id) == nil {
		s.nudges.add(id)
	}
}

// nudges are the sessions that somebody wants a pass for now.
type nudges struct {
	mu   sync.Mutex
	ids  map[string]bool
	bell chan struct{}
}

func newNudges() *nudges {
	return &nudges{ids: map[string]bool{}, bell: make(chan struct{}, 1)}
}

func (n *nudges) add(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ids[id] = true
	select {
	case n.bell <- struct{}{}:
	default:
	}
}

func (n *nudges) take() map[string]bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids := n.ids
	n.ids = map[string]bool{}
	return ids
}

// nudged puts the sessions that somebody wants a pass for into the line, or behind the
// work that is being done for them.
func (l *loop) nudged(ids map[string]bool) {
	for id := range ids {
		x := l.owing[id]
		switch {
		case x == nil:
			x = &debtor{id: id}
			l.owing[id] = x
			l.enter(x)
		case x.phase == ready:
			x.retry = time.Time{}
		case x.phase == working:
			x.nudged = true
		case x.phase == waiting:
			l.hurry(x)
		}
	}
}

// hurry puts a session that waits into the line, to be tried and not only looked at.
func (l *loop) hurry(x *debtor) {
	heap.Remove(&l.wait, x.place)
	x.retry = time.Time{}
	l.enter(x)
}
