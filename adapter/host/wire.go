package host

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	helloWait  = 10 * time.Second // how long a peer may take to say who it is
	readBuffer = 16 << 10
)

// silentAfter is helloWait for who waits for a host that is to answer from its memory: it
// may be stopped. Tests wait less.
var silentAfter atomic.Int64

func init() { silentAfter.Store(int64(helloWait)) }

func answerWait() time.Duration { return time.Duration(silentAfter.Load()) }

// A wire is one connection, as frames. One goroutine reads; any may write.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
	mu   sync.Mutex // serialises writes
}

func newWire(conn net.Conn) *wire {
	return &wire{conn: conn, in: bufio.NewReaderSize(conn, readBuffer)}
}

// read returns the next frame. A line that has no end is no frame, whatever is in it.
func (w *wire) read() (frame, error) {
	var line []byte
	for {
		part, err := w.in.ReadSlice('\n')
		if len(line)+len(part) > maxLineBytes {
			return frame{}, fmt.Errorf("%w: %w: more than %d bytes", ErrProtocol, ErrTooLong, maxLineBytes)
		}
		if line == nil && err == nil {
			return decodeFrame(part)
		}
		line = append(line, part...)
		if err == nil {
			return decodeFrame(line)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return frame{}, err
		}
	}
}

// write sends frames in one go. After an error nobody knows how much arrived, but
// the last frame did not arrive whole.
func (w *wire) write(frames ...frame) error {
	var lines []byte
	for _, f := range frames {
		var err error
		if lines, err = appendFrame(lines, f); err != nil {
			return err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.conn.Write(lines)
	return err
}

// until closes the connection when ctx ends before the returned function is called.
func (w *wire) until(ctx context.Context) (release func() bool) {
	return context.AfterFunc(ctx, func() { w.conn.Close() })
}

func (w *wire) close() error { return w.conn.Close() }

// told returns the error that a fault frame tells, and nil for other frames.
func (f frame) told() error {
	if f.Type != faultFrame {
		return nil
	}
	fault, known := faults()[f.Reason]
	switch {
	case !known:
		return errors.New(f.Text)
	case f.Text == "":
		return fault
	}
	return &toldError{fault, f.Text}
}

// faultFrameOf returns the frame that tells err.
func faultFrameOf(err error) frame {
	return frame{Type: faultFrame, Reason: faultOf(err), Text: err.Error()}
}

// A toldError is an error of the peer: its words, and the sentinel that it is.
type toldError struct {
	fault error
	text  string
}

func (e *toldError) Error() string { return e.text }
func (e *toldError) Unwrap() error { return e.fault }
