package session_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/session"
)

// race declares at random and prints how often that moved the session.
func race(s *session.Session) error {
	choice := []session.Declaration{active, asking, merge, nothing}
	moved := 0
	for range 40 {
		answer, err := s.Declare(ctx, choice[rand.N(len(choice))])
		if err != nil {
			return err
		}
		if answer.Moved {
			moved++
		}
	}
	_, err := fmt.Println(moved)
	return err
}

// Whoever declares, the log has every move once, and ends with what the record
// shows.
func TestProcessesDeclare(t *testing.T) {
	store := newStore(t)
	s := create(t, store, "s")
	var wg sync.WaitGroup
	outputs := make([]string, 5)
	for i := range outputs {
		wg.Go(func() {
			c := command(t, store, "race")
			c.Stderr = os.Stderr
			out, err := c.Output()
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			outputs[i] = strings.TrimSpace(string(out))
		})
	}
	wg.Wait()
	moved := 0
	for _, out := range outputs {
		n, err := strconv.Atoi(out)
		check(t, err)
		moved += n
	}
	all := declarations(t, s)
	if len(all) != moved {
		t.Errorf("got %d events, want the %d moves that the processes were told of", len(all), moved)
	}
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			t.Errorf("events %d and %d are the same: %v", i-1, i, all[i])
		}
	}
	if last := record(t, s).Authored(); last != all[len(all)-1] {
		t.Errorf("got record %v, want the last event %v", last, all[len(all)-1])
	}
}

// waiting says that it is about to wait for the lock, and what it got.
func waiting(s *session.Session) error {
	fmt.Println("ready")
	_, err := s.Declare(ctx, merge)
	if errors.Is(err, lock.ErrClosed) {
		_, err = fmt.Println("closed")
		return err
	}
	return fmt.Errorf("got %v, want ErrClosed", err)
}

// Whoever waits for a session while it is closed is told so, in this and in other
// processes.
func TestCloseUnderWaiters(t *testing.T) {
	store := newStore(t)
	s := create(t, store, "s")
	other := open(t, store, "s")
	var wg sync.WaitGroup
	restore := step.Hook(func(name string) {
		if name != "session: marked as closed" { // both locks are held
			return
		}
		for range 50 {
			wg.Go(func() {
				if _, err := other.Declare(ctx, merge); !errors.Is(err, lock.ErrClosed) {
					t.Errorf("got %v, want ErrClosed", err)
				}
				if _, err := other.Locks().Delivery(ctx); !errors.Is(err, lock.ErrClosed) {
					t.Errorf("got %v, want ErrClosed", err)
				}
			})
		}
		for range 3 {
			waitsFor(t, &wg, command(t, store, "waiting"))
		}
	})
	err := s.Close(ctx)
	restore()
	check(t, err)
	wg.Wait()
	wantError(t, s.Close(ctx), lock.ErrClosed)
}

// waitsFor starts a process and returns when it is about to wait for the lock.
func waitsFor(t *testing.T, wg *sync.WaitGroup, c *exec.Cmd) {
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	check(t, err)
	check(t, c.Start())
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); line != "ready\n" {
		t.Errorf("got %q, %v", line, err)
	}
	wg.Go(func() {
		rest, err := io.ReadAll(lines)
		if err = errors.Join(err, c.Wait()); err != nil || string(rest) != "closed\n" {
			t.Errorf("got %q, %v, want that it is closed", rest, err)
		}
	})
}
