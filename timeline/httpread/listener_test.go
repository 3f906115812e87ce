package httpread_test

import (
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"

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
