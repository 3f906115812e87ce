package httpread

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Listener returns l with at most [Options.MaxConnections] connections open at once,
// so that no crowd of clients takes the descriptors that the program needs for its
// files. Further ones wait until one of those ends. With [Handler.Server] the connection
// that has waited longest for its next request makes room for one that comes.
//
// To close it closes l, and those connections on which nothing was said yet, such as
// browsers keep ready: the Shutdown of a server would wait for them.
func (h *Handler) Listener(l net.Listener) net.Listener {
	c := &crowd{Listener: l, places: semaphore.NewWeighted(int64(h.o.MaxConnections)), silent: map[*guest]bool{}}
	c.open, c.end = context.WithCancel(context.Background())
	return c
}

// A crowd is a listener with so many places.
type crowd struct {
	net.Listener
	places *semaphore.Weighted
	open   context.Context // ends with Close
	end    context.CancelFunc

	mu     sync.Mutex
	silent map[*guest]bool
	idle   []*guest // they may ask again, the first for the longest time
	queue  bool     // somebody waits for a place, for whom nobody was sent away yet
}

func (c *crowd) Accept() (net.Conn, error) {
	if !c.places.TryAcquire(1) {
		c.settle(func() { c.queue = true })
		err := c.places.Acquire(c.open, 1)
		c.settle(func() { c.queue = false })
		if err != nil {
			return nil, net.ErrClosed
		}
	}
	conn, err := c.Listener.Accept()
	if err != nil {
		c.places.Release(1)
		return nil, err
	}
	g := &guest{Conn: conn, crowd: c}
	g.leave = sync.OnceFunc(func() { c.places.Release(1) })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent[g] = true
	return g, nil
}

func (c *crowd) Close() error {
	c.end()
	err := c.Listener.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	for g := range c.silent {
		g.Conn.Close()
	}
	return err
}

// settle makes a change. Then, if somebody waits for a place, it sends the one away who
// has been idle for the longest time.
func (c *crowd) settle(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	if c.queue && len(c.idle) > 0 {
		c.queue = false
		c.idle[0].Conn.Close()
		c.idle[0].leave()
		c.idle = c.idle[1:]
	}
}

// heard notes that the guest said something, or has gone.
func (c *crowd) heard(g *guest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.silent, g)
	c.idle = slices.DeleteFunc(c.idle, func(other *guest) bool { return g == other })
}

// noteState tells the crowd of a connection what the server says of it.
func noteState(conn net.Conn, state http.ConnState) {
	g, ok := conn.(*guest)
	switch {
	case ok && state == http.StateIdle:
		g.crowd.settle(func() { g.crowd.idle = append(g.crowd.idle, g) })
	case ok && state == http.StateActive:
		g.crowd.heard(g)
	}
}

// A guest is a connection that has one of the places.
type guest struct {
	net.Conn
	crowd *crowd
	leave func()
}

func (g *guest) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if n > 0 {
		g.crowd.heard(g)
	}
	return n, err
}

func (g *guest) Close() error {
	defer g.leave()
	defer g.crowd.heard(g)
	return g.Conn.Close()
}
