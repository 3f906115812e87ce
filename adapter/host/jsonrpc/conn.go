package jsonrpc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"github.com/docket-go/docket/adapter/host"
)

const (
	defaultLineBytes = 16 << 20

	// lastWords is how long a program whose output has ended may take to say how it ended.
	lastWords = time.Second

	// lastMoment is how long a line that was begun may take after its time.
	lastMoment = time.Second
)

// A Peer is a program's end of the connection: its output is read, its input is
// written. Close ends the program; it may be called more than once and at the same
// time, and must let a Read or Write that waits return.
//
// A Peer that also has Done and Err, as a [host.Process] has, says by them how the
// program ended.
type Peer interface {
	io.ReadWriteCloser
}

// A Handler is what a [Conn] calls, one function at a time, all in the order of the
// lines. Each is required, and must not wait for the program.
type Handler struct {
	// Notified takes a notification.
	Notified func(method string, params json.RawMessage)

	// Asked takes a request, which it or somebody later answers by [Conn.Answer] or
	// [Conn.Refuse].
	Asked func(id json.RawMessage, method string, params json.RawMessage)

	// TooLong says whether a message that is too long to be read may be passed over;
	// the connection ends if not. A request (its id is not nil) is refused then, and
	// whoever waits for an answer (its method is "") gets [ErrTooLong].
	TooLong func(id json.RawMessage, method string) (pass bool)

	// Ended is told when the output of the program has ended: nothing more comes.
	Ended func(err error)

	// Gone is told when the program is gone, too: nothing more is written.
	Gone func(err error)
}

// Options configures a [Conn]. Name is required.
type Options struct {
	// Name is the program as the subject of an error, such as "codex: the program".
	Name string

	// Bare leaves out the field "jsonrpc", for programs that do without it.
	Bare bool

	// MaxLineBytes bounds a line of the program. Zero means 16 MiB; a negative value
	// means no bound.
	MaxLineBytes int
}

// A Conn is the connection to a program. Make it with [NewConn] and run it with
// [Conn.Serve]. It is safe for concurrent use.
type Conn struct {
	options Options
	peer    Peer
	handler Handler
	in      *host.Lines
	out     *host.Writer
	done    chan struct{}

	mu    sync.Mutex
	calls map[uint64]call
	last  uint64
	cause error
}

// NewConn returns the connection to a program.
func NewConn(p Peer, h Handler, o Options) *Conn {
	o.MaxLineBytes = cmp.Or(o.MaxLineBytes, defaultLineBytes)
	if o.MaxLineBytes < 0 {
		o.MaxLineBytes = math.MaxInt - 1
	}
	c := &Conn{options: o, peer: p, handler: h, in: host.NewLines(p, o.MaxLineBytes), done: make(chan struct{}), calls: map[uint64]call{}}
	c.out = host.NewWriter(p, c.Lose)
	return c
}

// Serve reads and writes until the connection ends, and ends the program. It is called
// once.
func (c *Conn) Serve() {
	defer close(c.done)
	wrote := make(chan struct{})
	go func() { c.out.Run(); close(wrote) }()
	err := c.read()
	if end := endOf(c.peer); end != nil {
		err = end
	}
	c.Lose(err)
	c.out.Close(err)
	c.handler.Ended(c.Cause())
	_ = c.peer.Close()
	<-wrote
	c.handler.Gone(c.Cause())
}

// endOf waits for the end of a program that the end of its output announces, but not
// for ever, and returns how it ended.
func endOf(p Peer) error {
	ending, can := p.(interface {
		Done() <-chan struct{}
		Err() error
	})
	if !can {
		return nil
	}
	wait := time.NewTimer(lastWords)
	defer wait.Stop()
	select {
	case <-ending.Done():
	case <-wait.C:
	}
	return ending.Err()
}

// Lose ends the connection for that reason, and the program. The first reason stands.
// It does not wait.
func (c *Conn) Lose(err error) {
	c.mu.Lock()
	first := c.cause == nil
	if first {
		c.cause = err
	}
	c.mu.Unlock()
	if first {
		go c.peer.Close()
	}
}

// Cause returns why the connection ends, and nil as long as it is good.
func (c *Conn) Cause() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// Done is closed once the program is gone and the handler knows.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Err returns why, once Done is closed.
func (c *Conn) Err() error {
	select {
	case <-c.done:
		return c.Cause()
	default:
		return nil
	}
}

// Close ends the program, by whatever its peer's Close does, and returns when Done is
// closed. It may be called more than once and at the same time, while Serve runs.
func (c *Conn) Close() error {
	c.Lose(fmt.Errorf("%s was told to end", c.options.Name))
	<-c.done
	return nil
}

// read handles what comes until nothing more does.
func (c *Conn) read() error {
	for {
		line, whole, err := c.in.Next()
		switch {
		case err != nil:
			return fmt.Errorf("%s closed its output: %w", c.options.Name, err)
		case whole:
			c.take(line)
		case !c.pass(headOf(line)):
			return fmt.Errorf("%s sent a line of more than %d bytes", c.options.Name, c.options.MaxLineBytes)
		}
	}
}

// take handles one line.
func (c *Conn) take(line []byte) {
	m, ok := decode(line)
	switch {
	case !ok:
	case m.Method == "":
		c.answered(m.ID, m.answer())
	case m.ID == nil:
		c.handler.Notified(m.Method, m.Params)
	default:
		c.handler.Asked(m.ID, m.Method, m.Params)
	}
}

// pass passes over a message that is too long, and reports whether it may.
func (c *Conn) pass(m message) bool {
	if len(m.ID) > maxID || m.Method == "" && m.ID == nil || !c.handler.TooLong(m.ID, m.Method) {
		return false
	}
	switch {
	case m.Method == "":
		c.answered(m.ID, Answer{Err: ErrTooLong})
	case m.ID != nil:
		c.Refuse(m.ID, CodeInvalidRequest, "too long")
	}
	return true
}
