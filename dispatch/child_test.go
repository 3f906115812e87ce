package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/docket-go/docket/adapter"
	program "github.com/docket-go/docket/adapter/exec"
	"github.com/docket-go/docket/adapter/file"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A job is what the other process does, as JSON in DOCKET_DISPATCH_JOB.
type job struct {
	Store   string
	Session string
	Name    string // of this process, in its messages and keys
	Count   int    // how many messages
	Key     string
	DieAt   int    // kill -9 itself at the n-th step; 0 means never
	DieOn   string // or at the step of that name

	NoDrain      bool  // of send-1
	SegmentBytes int64 // as in timeline.Options
	Buffered     bool
	Seed         uint64 // of what is random
	Window       int    // as SetWindow has it
}

// roles are the things that another process can do.
var roles = map[string]func(ctx context.Context, j job, d *dispatch.Dispatcher) error{
	"send":    sendMany,
	"drain":   drainUntilTold,
	"send-1":  sendOne,
	"drain-1": drainOnce,
	"repair-1": func(ctx context.Context, j job, d *dispatch.Dispatcher) error {
		_, err := d.Repair(ctx, j.Session)
		return err
	},
	"close": func(ctx context.Context, j job, _ *dispatch.Dispatcher) error {
		return j.inSession(func(s *session.Session) error { return s.Close(ctx) })
	},
	"seal": func(ctx context.Context, j job, _ *dispatch.Dispatcher) error {
		return j.inSession(func(s *session.Session) error {
			_, err := s.Timeline().Seal(ctx)
			return err
		})
	},
	"soak":    soakSteps,
	"contend": contend,
	"declare": declareOne,
	"until closed": func(ctx context.Context, j job, d *dispatch.Dispatcher) error {
		name := j.Name
		for i := 0; ; i++ {
			j.Name, j.Count = fmt.Sprint(name, i), 1
			switch err := sendMany(ctx, j, d); {
			case errors.Is(err, session.ErrNotFound), errors.Is(err, lock.ErrClosed), errors.Is(err, timeline.ErrClosed):
				return nil
			case err != nil:
				return err
			}
		}
	},
	"hook": func(ctx context.Context, j job, d *dispatch.Dispatcher) error {
		return errors.Join(declareOne(ctx, j, d), sendOne(ctx, j, d))
	},
	"revoke-1": revokeAll,
	"revoke-1 in groups": func(ctx context.Context, j job, d *dispatch.Dispatcher) error {
		dispatch.SetGroup(d, 2)
		return revokeAll(ctx, j, d)
	},
}

func revokeAll(ctx context.Context, j job, d *dispatch.Dispatcher) error {
	_, err := d.RevokeFrom(ctx, j.Session, "")
	return err
}

func child(role string) int {
	var j job
	err := json.Unmarshal([]byte(os.Getenv("DOCKET_DISPATCH_JOB")), &j)
	if err == nil {
		err = work(role, j)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, role, err)
		return 1
	}
	return 0
}

func work(role string, j job) error {
	store, err := j.open()
	if err != nil {
		return err
	}
	if j.DieAt > 0 || j.DieOn != "" {
		seen := 0
		step.Hook(func(name string) {
			if seen++; seen == j.DieAt || name == j.DieOn {
				fmt.Println(name)
				killSelf()
			}
		})
	}
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{file.Kind, program.Kind}})
	defer d.Close()
	if j.Window > 0 {
		dispatch.SetWindow(d, j.Window)
	}
	return roles[role](context.Background(), j, d)
}

func (j job) open() (*session.Store, error) {
	return session.OpenStore(j.Store, session.Options{Timeline: timeline.Options{SegmentBytes: j.SegmentBytes, Buffered: j.Buffered}})
}

// inSession does something with the session itself.
func (j job) inSession(do func(s *session.Session) error) error {
	store, err := j.open()
	if err != nil {
		return err
	}
	s, err := store.Open(j.Session)
	if err != nil {
		return err
	}
	return errors.Join(do(s), s.Release())
}

func killSelf() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // the signal is on its way
}

// sendMany prints the mid of each message that was accepted.
func sendMany(ctx context.Context, j job, d *dispatch.Dispatcher) error {
	for i := range j.Count {
		m := dispatch.Message{Text: j.Name + " " + strconv.Itoa(i), NoDrain: i%3 == 0}
		if i%4 == 0 {
			m.Key = j.Name + strconv.Itoa(i)
		}
		a, err := d.SendText(ctx, j.Session, m)
		if err != nil {
			return err
		}
		fmt.Println(a.MID)
	}
	return nil
}

// drainUntilTold makes passes until its stdin ends.
func drainUntilTold(ctx context.Context, j job, d *dispatch.Dispatcher) error {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		os.Stdin.Read(make([]byte, 1))
		cancel()
	}()
	for ctx.Err() == nil {
		_, err := d.Drain(ctx, j.Session, dispatch.DrainOptions{})
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func sendOne(ctx context.Context, j job, d *dispatch.Dispatcher) error {
	a, err := d.SendText(ctx, j.Session, dispatch.Message{Text: j.Name, Key: j.Key, NoDrain: j.NoDrain})
	if err != nil {
		return err
	}
	fmt.Println(a.MID)
	return nil
}

// contend is sendMany beside a message that every process sends with the same key.
func contend(ctx context.Context, j job, d *dispatch.Dispatcher) error {
	a, err := d.SendText(ctx, j.Session, dispatch.Message{Text: "the same from all", Key: j.Key})
	if err != nil {
		return err
	}
	fmt.Println("shared", a.MID)
	return sendMany(ctx, j, d)
}

func declareOne(ctx context.Context, j job, _ *dispatch.Dispatcher) error {
	return j.inSession(func(s *session.Session) error {
		_, err := s.Declare(ctx, session.Declaration{Status: session.StatusActive, Note: j.Name})
		return err
	})
}

func drainOnce(ctx context.Context, j job, d *dispatch.Dispatcher) error {
	_, err := d.Drain(ctx, j.Session, dispatch.DrainOptions{})
	return err
}

// command prepares the test binary as another process.
func command(t testing.TB, role string, j job) *exec.Cmd {
	t.Helper()
	content, err := json.Marshal(j)
	must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DOCKET_DISPATCH_CHILD="+role, "DOCKET_DISPATCH_JOB="+string(content))
	cmd.Stderr = os.Stderr
	return cmd
}

// killed reports whether the process ended by dying at its step.
func killed(t testing.TB, err error) bool {
	t.Helper()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil && exit.Exited() {
		t.Fatalf("the child failed by itself: %v", err)
	}
	return exit != nil
}
