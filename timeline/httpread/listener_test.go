package httpread_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/timeline/httpread"
	"github.com/docket-go/docket/timeline/session"
)

// A queue of clients that never ends, until it is closed.
type endless struct {
	end  chan struct{}
	once sync.Once

	clients []net.Conn
}

func (e *endless) Accept() (net.Conn, error) {
	select {
	case <-e.end:
		return nil, net.ErrClosed
	default:
	}
	c, client := net.Pipe()
	e.clients = append(e.clients, client)
	return c, nil
}

func (e *endless) Close() error { e.once.Do(func() { close(e.end) }); return nil }

func (e *endless) Addr() net.Addr { return &net.TCPAddr{} }

// No more clients are let in than there are places, and one that goes makes room for
// one other.
func TestListenerBoundsTheCrowd(t *testing.T) {
	store, err := session.OpenStore(t.TempDir(), session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		h, err := httpread.New(httpread.Options{Store: store, MaxConnections: 2})
		if err != nil {
			t.Fatal(err)
		}
		outside := &endless{end: make(chan struct{})}
		l := h.Listener(outside)
		var inside []net.Conn
		ended := make(chan error, 1)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					ended <- err
					return
				}
				inside = append(inside, c)
			}
		}()
		for _, want := range []int{2, 3, 4} {
			synctest.Wait()
			if len(inside) != want {
				t.Fatalf("got %d let in, want %d", len(inside), want)
			}
			inside[0].Close()
			if want == 3 {
				inside[1].Close()
			}
		}
		go outside.clients[3].Write([]byte("GET"))
		if _, err := inside[3].Read(make([]byte, 3)); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := outside.clients[2].Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want who said nothing to be sent away", err)
		}
		go inside[3].Write([]byte("H"))
		if _, err := outside.clients[3].Read(make([]byte, 1)); err != nil {
			t.Errorf("got %v, want who said something to stay", err)
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want it closed", err)
		}
	})
}

// A connection that waits for its next request makes room for one that has one, the
// longest waiting first, and one that is being served stays.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	f := begin(t)
	a := f.make("a")
	h, err := httpread.New(httpread.Options{Store: f.store, MaxConnections: 4})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := h.Server()
	s.IdleTimeout = time.Hour
	state, idle := s.ConnState, make(chan bool, 1)
	s.ConnState = func(c net.Conn, to http.ConnState) {
		if state(c, to); to == http.StateIdle {
			idle <- true
		}
	}
	go s.Serve(h.Listener(l))
	t.Cleanup(func() {
		h.Close()
		s.Close()
	})
	stream := caller(t, l.Addr())
	stream.ask("/api/sessions/a/events")
	first, second := caller(t, l.Addr()), caller(t, l.Addr())
	third := caller(t, l.Addr())
	for _, c := range []*call{first, second, third} {
		c.ask("/api/sessions")
		<-idle
	}
	if _, err := first.from.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("got %v, want the first to be sent away", err)
	}
	third.ask("/api/sessions")
	<-idle
	second.ask("/api/sessions")
	<-idle
	for range 2 {
		caller(t, l.Addr()).ask("/api/sessions")
		<-idle
	}
	for _, c := range []*call{third, second} {
		if _, err := c.from.ReadByte(); !errors.Is(err, io.EOF) {
			t.Errorf("got %v, want it sent away", err)
		}
	}
	f.numbered(a, 0, 1)
	if _, err := stream.from.ReadString('m'); err != nil {
		t.Errorf("the stream: %v", err)
	}
}

// A call is one connection of a client.
type call struct {
	t    *testing.T
	conn net.Conn
	from *bufio.Reader
}

func caller(t *testing.T, to net.Addr) *call {
	t.Helper()
	conn, err := net.Dial(to.Network(), to.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(time.Minute))
	return &call{t, conn, bufio.NewReader(conn)}
}

// ask asks for a path, and reads the answer unless it is a stream.
func (c *call) ask(path string) {
	c.t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	if err == nil {
		err = r.Write(c.conn)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	a, err := http.ReadResponse(c.from, r)
	if err != nil {
		c.t.Fatal(err)
	}
	if a.StatusCode != http.StatusOK {
		c.t.Fatalf("got %s", a.Status)
	}
	if a.ContentLength < 0 {
		return
	}
	if _, err := io.Copy(io.Discard, a.Body); err != nil {
		c.t.Fatal(err)
	}
}
