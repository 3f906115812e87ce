package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// maxWaiting bounds what waits for a program that does not read, in lines.
const maxWaiting = 1024

var (
	errNotRead   = errors.New("host: the program does not read what it is sent")
	errWithdrawn = errors.New("host: the line was withdrawn")
)

// A Writer writes lines to a program one after the other, so that nobody else waits for
// one that does not read. It is safe for concurrent use.
type Writer struct {
	to   io.Writer
	lost func(error)

	mu      sync.Mutex
	more    *sync.Cond
	waiting []*Line
	err     error
}

// NewWriter returns a writer that writes once its Run is called. When it has come to its
// end, by an error or by Close, lost is told why, once and in a goroutine of its own.
func NewWriter(to io.Writer, lost func(error)) *Writer {
	w := &Writer{to: to, lost: lost}
	w.more = sync.NewCond(&w.mu)
	return w
}

// A Line is one line on its way to a program.
type Line struct {
	bytes []byte
	begun bool          // under the mutex of its writer
	done  chan struct{} // closed once it was written, or cannot be any more
	n     int           // bytes that were written; read it after done
	err   error         // read it after done
}

// Unsent returns a line that could not be sent, for that reason.
func Unsent(err error) *Line {
	l := &Line{done: make(chan struct{}), err: err}
	close(l.done)
	return l
}

// Done is closed once the line was written, or cannot be any more.
func (l *Line) Done() <-chan struct{} { return l.done }

// Reached waits for Done and reports whether the program may have got the message. A
// line of JSON that lacks more than its newline is no message, whatever the program
// makes of the end of its input.
func (l *Line) Reached() bool {
	<-l.done
	return len(l.bytes) > 0 && l.n >= len(l.bytes)-1
}

// Wait waits until the line is written, or cannot be any more, or ctx ends.
func (l *Line) Wait(ctx context.Context) error {
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errNotRead, context.Cause(ctx))
	}
}

// Send has a line, with its newline, written after all that were sent before. It never
// waits: if more than 1024 lines do, the writer has come to its end.
func (w *Writer) Send(line []byte) *Line {
	l := &Line{bytes: line, done: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && len(w.waiting) >= maxWaiting {
		w.end(errNotRead)
	}
	if w.err != nil {
		l.err = w.err
		close(l.done)
		return l
	}
	w.waiting = append(w.waiting, l)
	w.more.Signal()
	return l
}

// Withdraw takes back a line of which nothing was written, and reports whether it could.
func (w *Writer) Withdraw(l *Line) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	i := slices.Index(w.waiting, l)
	if i < 0 {
		return false
	}
	w.waiting = slices.Delete(w.waiting, i, i+1)
	l.err = errWithdrawn
	close(l.done)
	return true
}

// Begun reports whether any of the line may have been written.
func (w *Writer) Begun(l *Line) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return l.begun
}

// Close refuses every later line, and those that wait, with err. A write that is under
// way goes on until its program reads it or is gone.
func (w *Writer) Close(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.end(err)
	}
}

// end is the end of the writer, whose mutex the caller has.
func (w *Writer) end(err error) {
	w.err = err
	for _, l := range w.waiting {
		l.err = err
		close(l.done)
	}
	w.waiting = nil
	w.more.Signal()
	go w.lost(err)
}

// next waits for a line to write. Nil means that there will be none.
func (w *Writer) next() *Line {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.waiting) == 0 && w.err == nil {
		w.more.Wait()
	}
	if w.err != nil {
		return nil
	}
	l := w.waiting[0]
	l.begun = true
	w.waiting = slices.Delete(w.waiting, 0, 1)
	return l
}

// Run writes until the end. It is called once.
func (w *Writer) Run() {
	for l := w.next(); l != nil; l = w.next() {
		n, err := w.to.Write(l.bytes)
		l.n, l.err = n, err
		close(l.done)
		if err != nil {
			w.Close(fmt.Errorf("host: write to the program: %w", err))
		}
	}
}
