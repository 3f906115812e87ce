package host_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/docket-go/docket/adapter/host"
)

// A written is a writer whose program reads when the test does.
type written struct {
	*host.Writer
	program *io.PipeReader
	lost    chan error
	over    chan struct{} // closed when Run returns
}

func writes() written {
	r, to := io.Pipe()
	w := written{program: r, lost: make(chan error, 2), over: make(chan struct{})}
	w.Writer = host.NewWriter(to, func(err error) { w.lost <- err })
	go func() { w.Run(); close(w.over) }()
	return w
}

// ended returns why the writer is at its end, which it must tell once.
func (w written) ended(t *testing.T) error {
	t.Helper()
	<-w.over
	synctest.Wait()
	if len(w.lost) != 1 {
		t.Fatalf("got told of %d ends, want one", len(w.lost))
	}
	return <-w.lost
}

func TestWriterKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := writes()
		var want strings.Builder
		var sent []*host.Line
		for i := range 100 {
			line := fmt.Sprintln(i)
			want.WriteString(line)
			sent = append(sent, w.Send([]byte(line)))
		}
		got := make([]byte, want.Len())
		if _, err := io.ReadFull(w.program, got); err != nil || string(got) != want.String() {
			t.Errorf("got %q, %v, want %q", got, err, want.String())
		}
		for _, l := range sent {
			if err := l.Wait(t.Context()); err != nil || !l.Reached() || !w.Begun(l) {
				t.Errorf("got %v, reached %v, begun %v, want it written", err, l.Reached(), w.Begun(l))
			}
		}
		closed := errors.New("closed")
		w.Close(closed)
		w.Close(errors.New("again"))
		if err := w.ended(t); err != closed {
			t.Errorf("got the end %v, want %v", err, closed)
		}
		if l := w.Send([]byte("late\n")); l.Wait(t.Context()) != closed || l.Reached() || w.Begun(l) {
			t.Errorf("after the end: got %v, want %v and nothing written", l.Wait(t.Context()), closed)
		}
	})
}

// A program that does not read keeps nobody waiting: what was not begun can be taken
// back, and what waits is bounded.
func TestWriterOfAProgramThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := writes()
		first := w.Send([]byte("first\n"))
		synctest.Wait()
		second := w.Send([]byte("second\n"))
		if !w.Begun(first) || w.Withdraw(first) || w.Begun(second) || !w.Withdraw(second) || w.Withdraw(second) {
			t.Error("want the second line withdrawn once, and the first begun")
		}
		if err := second.Wait(t.Context()); err == nil || second.Reached() {
			t.Errorf("the second: got %v, want that it was withdrawn", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := first.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the first: got %v, want that the wait ended", err)
		}
		var waits []*host.Line
		for range 1024 {
			waits = append(waits, w.Send([]byte("more\n")))
		}
		select {
		case <-waits[1023].Done():
			t.Error("got the last that fits done, want it waiting")
		default:
		}
		refused := w.Send([]byte("too much\n"))
		for _, l := range append(waits, refused) {
			if err := l.Wait(t.Context()); err == nil || l.Reached() {
				t.Fatalf("got %v, want it refused", err)
			}
		}
		if _, err := io.ReadFull(w.program, make([]byte, 6)); err != nil { // what was begun is still written
			t.Error(err)
		}
		if err := w.ended(t); err == nil || !first.Reached() {
			t.Errorf("got the end %v, and the first reached: %v", err, first.Reached())
		}
	})
}

// All of a message but its newline may be read as one; less may not.
func TestLineReached(t *testing.T) {
	for read, reached := range map[int]bool{0: false, 1: false, 2: true, 3: true} {
		synctest.Test(t, func(t *testing.T) {
			w := writes()
			l := w.Send([]byte("{}\n"))
			if _, err := io.ReadFull(w.program, make([]byte, read)); err != nil {
				t.Fatal(err)
			}
			broken := errors.New("broken")
			w.program.CloseWithError(broken)
			if read == 3 {
				<-l.Done()
				l2 := w.Send([]byte("{}\n"))
				if err := l2.Wait(t.Context()); !errors.Is(err, broken) || l2.Reached() {
					t.Errorf("the next: got %v, want %v", err, broken)
				}
			} else if err := l.Wait(t.Context()); !errors.Is(err, broken) {
				t.Errorf("%d bytes: got %v, want %v", read, err, broken)
			}
			if got := l.Reached(); got != reached {
				t.Errorf("%d bytes: got reached %v, want %v", read, got, reached)
			}
			if err := w.ended(t); !errors.Is(err, broken) {
				t.Errorf("got the end %v, want %v", err, broken)
			}
		})
	}
	unsent := errors.New("unsent")
	if l := host.Unsent(unsent); l.Reached() || l.Wait(t.Context()) != unsent {
		t.Errorf("got reached %v, %v, want neither", l.Reached(), l.Wait(t.Context()))
	}
}
