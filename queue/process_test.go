package queue_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
)

// The test binary is its own child: with this variable set it works on a directory
// until it is done or dead.
const childRole = "QUEUE_TEST_CHILD"

// ownRoles are the children that some platforms have besides.
var ownRoles = map[string]func(dir string) error{}

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		if err := child(role, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The files in which the children keep the record that the queue itself lacks: what
// was accepted, what was settled, and what the agent got. Each line is one mid.
const (
	acceptedFile = "accepted"
	settledFile  = "settled"
	handedFile   = "handed"
)

func note(dir, file, mid string) error {
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(mid + "\n")
	return errors.Join(err, f.Close())
}

func noted(dir, file string) []string {
	var all []string
	data, _ := os.ReadFile(filepath.Join(dir, file))
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		all = append(all, s.Text())
	}
	return all
}

func readBook(dir string) *book {
	return &book{accepted: noted(dir, acceptedFile), ended: noted(dir, settledFile)}
}

// child runs one role: "enqueue NAME COUNT STEP" or "drain NAME COUNT STEP". At the
// given step, counted from the start, it kills itself; zero means never.
func child(role, dir string) error {
	if do := ownRoles[role]; do != nil {
		return do(dir)
	}
	f := strings.Fields(role)
	count, _ := strconv.Atoi(f[2])
	last, _ := strconv.Atoi(f[3])
	step.Hook(func(string) {
		if last--; last == 0 {
			killSelf()
		}
	})
	q, err := queue.Open(dir, queue.Options{})
	if err != nil {
		return err
	}
	c := &worker{q: q, dir: dir, name: f[1]}
	for i := range count {
		if err := c.work(f[0], i); err != nil {
			return err
		}
	}
	return nil
}

func killSelf() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		p.Kill()
	}
	select {}
}

// A worker is what a dispatcher would be: it keeps the record beside the queue and
// makes the two agree when somebody died in the middle of a change.
type worker struct {
	q    *queue.Queue
	dir  string
	name string
}

func (c *worker) work(what string, i int) error {
	if what == "enqueue" {
		held, err := c.lock(context.Background())
		if err != nil {
			return err
		}
		return errors.Join(c.send(held, fmt.Sprintf("%s-%d", c.name, i)), held.Release())
	}
	pass, err := c.q.Locks().Delivery(context.Background())
	if err != nil {
		return err
	}
	defer pass.Release()
	_, err = c.q.Drain(context.Background(), pass, queue.Handover{
		Lock: c.lock,
		Ready: func(_ context.Context, e queue.Entry) (queue.Verdict, error) {
			if e.Unconfirmed() && slices.Contains(noted(c.dir, handedFile), e.MID) {
				return queue.Settle, nil
			}
			return queue.Hand, nil
		},
		Insert: func(_ context.Context, e queue.Entry) (queue.Answer, error) {
			if err := note(c.dir, handedFile, e.MID); err != nil {
				return queue.Refused, err
			}
			return queue.Taken, nil
		},
		Settle: func(_ context.Context, _ *lock.Record, e queue.Entry) error {
			return note(c.dir, settledFile, e.MID)
		},
	})
	return err
}

func (c *worker) lock(ctx context.Context) (*lock.Record, error) {
	held, err := c.q.Locks().Record(ctx)
	if err != nil || !held.Interrupted() {
		return held, err
	}
	in, err := c.q.Inspect()
	if err != nil {
		return held, err
	}
	var entries []queue.Entry
	for _, mid := range readBook(c.dir).owed() {
		entries = append(entries, entry(mid))
	}
	if in.Damaged() {
		return held, in.Err()
	}
	_, err = c.q.Rebuild(held, entries)
	return held, errors.Join(err, held.Recovered())
}

func (c *worker) send(held *lock.Record, mid string) error {
	e := entry(mid)
	if err := c.q.Reserve(held, e); err != nil {
		return err
	}
	if err := held.Begin(); err != nil {
		return err
	}
	if err := note(c.dir, acceptedFile, mid); err != nil {
		return err
	}
	step.At("queue test: recorded")
	if err := c.q.Enqueue(held, e); err != nil {
		return err
	}
	return held.Done()
}

func start(t *testing.T, dir, role string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], dir)
	cmd.Env = append(os.Environ(), childRole+"="+role)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// settle lets one last, undisturbed pass finish everything, and compares the record
// with what the agent got: each accepted message once, in order.
func settle(t *testing.T, dir string) {
	t.Helper()
	d := openDesk(t, dir, queue.Options{})
	defer d.Close()
	if err := (&worker{q: d.Queue, dir: dir}).work("drain", 0); err != nil {
		t.Fatalf("the last pass: %v", err)
	}
	b := readBook(dir)
	equal(t, "owed at the end", b.owed(), nil)
	equal(t, "handed over, against accepted", noted(dir, handedFile), b.accepted)
	d.atRest(nil)
}

// A process that kills itself at any step of its work loses nothing and doubles
// nothing; the next one goes on.
func TestKilledAtEveryStep(t *testing.T) {
	for _, role := range []string{"enqueue x 2", "drain y 1"} {
		t.Run(strings.Fields(role)[0], func(t *testing.T) {
			for n := 1; ; n++ {
				dir := t.TempDir()
				d := openDesk(t, dir, queue.Options{})
				before := &worker{q: d.Queue, dir: dir, name: "a"}
				if err := errors.Join(before.work("enqueue", 0), before.work("enqueue", 1), d.Close()); err != nil {
					t.Fatal(err)
				}
				err := start(t, dir, fmt.Sprint(role, " ", n)).Wait()
				settle(t, dir)
				if err == nil {
					return
				}
			}
		})
	}
}

// Senders and drainers race in processes of their own and are killed at any moment.
func TestProcessesRace(t *testing.T) {
	dir := t.TempDir()
	var running []*exec.Cmd
	for i := range 3 {
		running = append(running, start(t, dir, fmt.Sprintf("enqueue s%d 150 0", i)), start(t, dir, fmt.Sprintf("drain d%d 100 0", i)))
	}
	kill := time.NewTicker(30 * time.Millisecond)
	defer kill.Stop()
	for n := range 12 {
		<-kill.C
		i := rand.IntN(len(running))
		running[i].Process.Kill()
		running[i].Wait()
		if i%2 == 0 {
			running[i] = start(t, dir, fmt.Sprintf("enqueue s%d-%d 50 0", i, n))
		} else {
			running[i] = start(t, dir, fmt.Sprintf("drain d%d-%d 100 %d", i, n, rand.IntN(80)))
		}
	}
	for _, cmd := range running {
		cmd.Wait()
	}
	settle(t, dir)
}
