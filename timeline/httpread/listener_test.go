package httpread_test

import (
	"errors"
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
}

func (e *endless) Accept() (net.Conn, error) {
	select {
	case <-e.end:
		return nil, net.ErrClosed
	default:
	}
	c, _ := net.Pipe()
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
		l := h.Listener(&endless{end: make(chan struct{})})
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
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want it closed", err)
		}
	})
}
