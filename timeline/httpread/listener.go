package httpread

import (
	"context"
	"net"
	"sync"

	"golang.org/x/sync/semaphore"
)

// Listener returns l with at most [Options.MaxConnections] connections open at once,
// so that no crowd of clients takes the descriptors that the program needs for its
// files. Further ones wait until one of those ends. To close it closes l.
func (h *Handler) Listener(l net.Listener) net.Listener {
	c := &crowd{Listener: l, places: semaphore.NewWeighted(int64(h.o.MaxConnections))}
	c.open, c.end = context.WithCancel(context.Background())
	return c
}

// A crowd is a listener with so many places.
type crowd struct {
	net.Listener
	places *semaphore.Weighted
	open   context.Context // ends with Close
	end    context.CancelFunc
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
	return &guest{Conn: conn, leave: sync.OnceFunc(func() { c.places.Release(1) })}, nil
}

func (c *crowd) Close() error {
	c.end()
	return c.Listener.Close()
}

// A guest is a connection that has one of the places.
type guest struct {
	net.Conn
	leave func()
}

func (g *guest) Close() error {
	defer g.leave()
	return g.Conn.Close()
}
