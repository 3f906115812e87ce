//go:build linux || darwin

package turns_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/turns"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/turn"
)

// A job is what another process does, as JSON in TURNS_TEST_JOB.
type job struct {
	Role  string
	Root  string // of the store
	Judge string // the file in which the agent notes what it got
	DieAt int    // kill -9 itself at the n-th step; 0 means never
	Text  string // of send
}

// child does its part until its standard input ends.
func child(text string) int {
	var j job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return 2
	}
	var mu sync.Mutex
	seen := 0
	step.Hook(func(name string) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(name, "segment: ") { // proven by that package
			return
		}
		if seen++; seen == j.DieAt {
			fmt.Println(name)
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	roles := map[string]func(context.Context, job) error{"host": hostRole, "record": recordRole, "send": sendRole}
	if err := roles[j.Role](ctx, j); err != nil {
		fmt.Fprintln(os.Stderr, j.Role, err)
		return 1
	}
	return 0
}

func (j job) dir() string { return filepath.Join(j.Root, "sessions", "s1") }

func hostRole(ctx context.Context, j job) error {
	b, err := host.Open(host.Options{
		Session: adapter.Session{ID: "s1", Dir: j.dir()}, FirstBackoff: -1,
		Start: func(_ context.Context, s *host.Seat) (host.Agent, error) { return startProgram(s, j.Judge) },
	})
	if err != nil {
		return err
	}
	return b.Serve(ctx)
}

func recordRole(ctx context.Context, j job) error {
	d, err := j.dispatcher()
	if err != nil {
		return err
	}
	defer d.Close()
	r, err := turns.Open(ctx, j.dir(), turns.Options{
		Turns: turn.Options{Buffered: true}, Retry: time.Millisecond,
		Drain: func(ctx context.Context) error {
			_, err := d.Drain(ctx, "s1", dispatch.DrainOptions{})
			return err
		},
	})
	if err != nil {
		return err
	}
	defer r.Close()
	for ctx.Err() == nil {
		if err := r.Run(ctx); err != nil && !errors.Is(err, host.ErrNoHost) {
			return err
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return nil
}

func sendRole(ctx context.Context, j job) error {
	d, err := j.dispatcher()
	if err != nil {
		return err
	}
	defer d.Close()
	_, err = d.SendText(context.Background(), "s1", dispatch.Message{Text: j.Text})
	return err
}

func (j job) dispatcher() (*dispatch.Dispatcher, error) {
	store, err := openStore(j.Root)
	if err != nil {
		return nil, err
	}
	return dispatch.New(store, dispatch.Options{Adapters: registry}), nil
}

// said is a line between the program and its driver.
type said struct {
	MID  string `json:",omitempty"`
	Took bool   `json:",omitempty"`
	Text string `json:",omitempty"`
	End  bool   `json:",omitempty"`
}

const pieces = 5 // of text in each of the program's turns

// program is the agent's program: it notes each prompt, says that it took it, and answers.
func program(judge string) int {
	out := json.NewEncoder(os.Stdout)
	note(judge, fmt.Sprintf("pid %d", os.Getpid()))
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var p said
		if json.Unmarshal(in.Bytes(), &p) != nil {
			return 2
		}
		note(judge, p.MID)
		_ = out.Encode(said{Took: true})
		for i := range pieces {
			_ = out.Encode(said{Text: fmt.Sprint(i)})
		}
		_ = out.Encode(said{End: true})
	}
	return 0
}

func note(judge, line string) {
	f, err := os.OpenFile(judge, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = f.WriteString(line + "\n")
		f.Close()
	}
	if err != nil {
		panic(err)
	}
}

// A driver is the agent interface of the program.
type driver struct {
	*host.Process
	mu   sync.Mutex
	sink host.Sink
	took chan struct{}
	done chan struct{}
}

func startProgram(s *host.Seat, judge string) (host.Agent, error) {
	p, err := s.Launch(host.ProcessOptions{
		Args: []string{os.Args[0]},
		Env:  append(os.Environ(), "TURNS_TEST_JOB=", "TURNS_TEST_JUDGE="+judge),
	})
	if err != nil {
		return nil, err
	}
	d := &driver{Process: p, took: make(chan struct{}, 1), done: make(chan struct{})}
	go d.listen()
	return d, nil
}

func (d *driver) listen() {
	defer close(d.done)
	for in := bufio.NewScanner(d.Stdout); in.Scan(); {
		var s said
		if json.Unmarshal(in.Bytes(), &s) != nil {
			break
		}
		d.mu.Lock()
		to := d.sink
		d.mu.Unlock()
		switch {
		case s.Took:
			d.took <- struct{}{}
		case s.End:
			to.Finish(none, success)
		default:
			to.Emit(host.Native{Provider: "program"}, host.Text{Text: s.Text})
		}
	}
	d.Stdout.Close()
	<-d.Process.Done()
}

func (d *driver) Submit(ctx context.Context, p adapter.Prompt, to host.Sink) error {
	d.mu.Lock()
	d.sink = to
	d.mu.Unlock()
	if err := json.NewEncoder(d.Stdin).Encode(said{MID: p.MID}); err != nil {
		return err
	}
	select {
	case <-d.took:
		return nil
	case <-d.done:
		return errors.New("the program ended")
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (d *driver) Interrupt(context.Context) error { return nil }
func (d *driver) Done() <-chan struct{}           { return d.done }
func (d *driver) Err() error                      { return d.Process.Err() }

// A process is a child that does a job.
type process struct {
	*exec.Cmd
	stdin io.Closer
	ended chan struct{}
	err   error
}

// run starts a child.
func run(t testing.TB, j job) *process {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	p := &process{Cmd: exec.Command(os.Args[0]), ended: make(chan struct{})}
	p.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", "TURNS_TEST_JOB="+string(text))
	p.Stdout, p.Stderr = t.Output(), t.Output()
	if p.stdin, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() { p.stop(t) })
	return p
}

// stop ends the child gently and waits for it.
func (p *process) stop(t testing.TB) {
	p.stdin.Close()
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		_ = p.Process.Kill()
		t.Errorf("got a child that does not end, want it ended")
		<-p.ended
	}
}

func (p *process) over() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// killed reports that the child died by kill -9.
func (p *process) killed() bool {
	var e *exec.ExitError
	return p.over() && errors.As(p.err, &e) && e.ExitCode() == -1
}
