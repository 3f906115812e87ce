package fleet_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
)

const (
	leadSessions = 3
	leadEvents   = 20 // a session
	leadSaves    = 7  // events between two saves
)

// readAsLead is the other process: it prints each event before it counts it as dealt
// with, and ends when there are no more. With a number it dies at that step.
func readAsLead(dir, dies string) error {
	if n, err := strconv.Atoi(dies); err == nil {
		step.Hook(func(string) {
			if n--; n == 0 {
				killSelf()
			}
		})
	}
	store, err := session.OpenStore(dir, session.Options{Timeline: timeline.Options{Buffered: true}})
	if err != nil {
		return err
	}
	p, err := fleet.OpenPosition(store, lead)
	if err != nil {
		return err
	}
	n := 0
	for u, err := range fleet.Follow(context.Background(), store, behind(p)) {
		if err != nil {
			return err
		}
		if u.Event.Text != "" {
			if _, err := fmt.Println(u.Session, u.Event.Seq); err != nil {
				return err
			}
			n++
		}
		p.Advance(u)
		if u.CaughtUp {
			break
		}
		if n%leadSaves == 0 {
			if err := p.Save(context.Background()); err != nil {
				return err
			}
		}
	}
	return errors.Join(p.Save(context.Background()), p.Close())
}

func killSelf() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	panic(fmt.Sprint("still alive: ", err))
}

// A printed is what the readers of one position have printed together.
type printed struct {
	t     *testing.T
	store *session.Store
	next  map[string]uint64 // behind all that was printed, by session
}

// run lets a process read, and kills it after it printed the given number of events. It
// returns false if the process came to its end before that.
func (p *printed) run(kill int, dies string) (died bool) {
	p.t.Helper()
	begin := p.kept()
	self, err := os.Executable()
	check(p.t, err)
	child := exec.Command(self)
	child.Env = append(os.Environ(), "FLEET_TEST_LEAD="+p.store.Dir(), "FLEET_TEST_DIES="+dies)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	check(p.t, err)
	check(p.t, child.Start())
	lines := bufio.NewScanner(out)
	for n := 1; lines.Scan(); n++ {
		id, seq := "", uint64(0)
		_, err := fmt.Sscan(lines.Text(), &id, &seq)
		check(p.t, err)
		if seq != begin[id] {
			p.t.Fatalf("got %s %d, want number %d", id, seq, begin[id])
		}
		begin[id]++
		p.next[id] = max(p.next[id], seq+1)
		if n == kill {
			check(p.t, child.Process.Kill())
		}
	}
	err = child.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	for id, seq := range p.kept() {
		if seq > p.next[id] {
			p.t.Fatalf("%s: number %d is kept, and %d were printed", id, seq, p.next[id])
		}
	}
	return err != nil
}

// kept returns the sequences of the position on the disk.
func (p *printed) kept() map[string]uint64 {
	p.t.Helper()
	position, err := fleet.OpenPosition(p.store, lead)
	check(p.t, err)
	defer position.Close()
	all := map[string]uint64{}
	c := position.Cursor()
	for _, id := range c.Sessions() {
		all[id], _ = c.Seq(id)
	}
	return all
}

func newPrinted(t *testing.T) *printed {
	store := newStore(t)
	made(t, store, lead)
	for i := range leadSessions {
		s := made(t, store, "a"+strconv.Itoa(i))
		for n := range leadEvents {
			say(t, s, strconv.Itoa(n))
		}
	}
	return &printed{t: t, store: store, next: map[string]uint64{}}
}

// finish lets the last reader come to its end.
func (p *printed) finish() {
	p.t.Helper()
	before := p.kept()
	if p.run(0, "") {
		p.t.Fatal("the last reader failed")
	}
	for i := range leadSessions {
		id := "a" + strconv.Itoa(i)
		if p.next[id] != leadEvents || p.kept()[id] != leadEvents || before[id] > leadEvents {
			p.t.Errorf("%s: printed %d and kept %d, want %d", id, p.next[id], p.kept()[id], leadEvents)
		}
	}
}

// A reader that is killed at any step of a save leaves a position behind what it has
// printed, never before it in part.
func TestReaderThatDiesInASave(t *testing.T) {
	for nth := 1; ; nth++ {
		p := newPrinted(t)
		died := p.run(0, strconv.Itoa(nth))
		p.finish()
		if !died {
			if nth == 1 {
				t.Fatal("a save has no step")
			}
			return
		}
	}
}

// Readers that are killed one after the other print everything, and each goes on where
// the position is.
func TestReadersThatAreKilled(t *testing.T) {
	p := newPrinted(t)
	for _, n := range []int{1, 3, 8, 9, 15, 2, 20} {
		p.run(n, "")
	}
	p.finish()
}
