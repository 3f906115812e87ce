package httpread

import (
	"context"
	"net"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Listener returns l with at most [Options.MaxConnections] connections open at once,
// so that no crowd of clients takes the descriptors that the program needs for its
// files. Further ones wait until one of those ends.
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
}

func (c *crowd) Accept() (net.Conn, error) {
	if c.places.Acquire(c.open, 1) != nil {
		return nil, net.ErrClosed
	}
	conn, err := c.Listener.Accept()
	if err != nil {
		c.places.Release(1)
		return nil, err
	}
	g := &guest{Conn: conn}
	g.leave = sync.OnceFunc(func() { c.places.Release(1) })
	g.heard = sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.silent, g)
	})
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

// A guest is a connection that has one of the places.
type guest struct {
	net.Conn
	heard func() // something was said
	leave func()
}

func (g *guest) Read(b []byte) (int, error) {
	n, err := g.Conn.Read(b)
	if n > 0 {
		g.heard()
	}
	return n, err
}

func (g *guest) Close() error {
	defer g.leave()
	defer g.heard()
	return g.Conn.Close()
}
