package codex

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// maxWaiting bounds what waits for an agent that does not read.
const maxWaiting = 1024

var errNotRead = errors.New("codex: the program does not read what it is sent")

// An outgoing is one line on its way to the program.
type outgoing struct {
	bytes []byte
	begun bool          // under the mutex of its out
	done  chan struct{} // closed once it was written, or cannot be any more
	n     int           // bytes that were written; read it after done
	err   error
}

// reached reports whether the program may have got the message. One that lacks more
// than its newline is no JSON, whatever the program makes of the end of its input.
func (o *outgoing) reached() bool { return o.n >= len(o.bytes)-1 }

// An out writes lines one after the other, so that nobody else waits for an agent
// that does not read.
type out struct {
	to   io.Writer
	lost func(error) // told once of the end

	mu      sync.Mutex
	more    *sync.Cond
	waiting []*outgoing
	err     error
}

func newOut(to io.Writer, lost func(error)) *out {
	o := &out{to: to, lost: lost}
	o.more = sync.NewCond(&o.mu)
	return o
}

// send has the line written after all that were sent before. It never waits.
func (o *out) send(line []byte) *outgoing {
	l := &outgoing{bytes: line, done: make(chan struct{})}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil && len(o.waiting) >= maxWaiting {
		o.end(errNotRead)
	}
	if o.err != nil {
		l.err = o.err
		close(l.done)
		return l
	}
	o.waiting = append(o.waiting, l)
	o.more.Signal()
	return l
}

// withdraw takes back a line that has not been begun, and reports whether it could.
func (o *out) withdraw(l *outgoing) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.Index(o.waiting, l)
	if i < 0 {
		return false
	}
	o.waiting = slices.Delete(o.waiting, i, i+1)
	l.err = errors.New("codex: withdrawn")
	close(l.done)
	return true
}

// begun reports whether any of the line may have been written.
func (o *out) begun(l *outgoing) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return l.begun
}

// close refuses every later line, and those that wait.
func (o *out) close(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.end(err)
	}
}

// end is called with the mutex.
func (o *out) end(err error) {
	o.err = err
	for _, l := range o.waiting {
		l.err = err
		close(l.done)
	}
	o.waiting = nil
	o.more.Signal()
	go o.lost(err)
}

// next waits for a line to write. Nil means that there will be none.
func (o *out) next() *outgoing {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.waiting) == 0 && o.err == nil {
		o.more.Wait()
	}
	if o.err != nil {
		return nil
	}
	l := o.waiting[0]
	l.begun = true
	o.waiting = slices.Delete(o.waiting, 0, 1)
	return l
}

// run writes until the end.
func (o *out) run() {
	for l := o.next(); l != nil; l = o.next() {
		n, err := o.to.Write(l.bytes)
		l.n, l.err = n, err
		close(l.done)
		if err != nil {
			o.close(fmt.Errorf("codex: write to the program: %w", err))
		}
	}
}
