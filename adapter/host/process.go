package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/docket-go/docket/adapter/procgroup"
)

const (
	defaultGrace = 5 * time.Second
	leftOpen     = time.Second           // how long what a program writes to may outlive it
	pollGroup    = 10 * time.Millisecond // how often an ending group is looked at
	stderrBytes  = 4096

	pipeBytes = 1 << 20               // more does not wait in a pipe
	atOnce    = 10 * time.Millisecond // how soon what waits there is read
)

// ProcessOptions configures [Launch]. Args is required.
type ProcessOptions struct {
	// Args is the program and its arguments; the program is looked up in PATH.
	Args []string

	// Dir is its working directory. Empty means that of this process.
	Dir string

	// Env is its environment. Nil means that of this process.
	Env []string

	// Grace is how long each gentle step of [Process.Close] may take. Zero means 5
	// seconds; a negative value means none: the group is killed at once.
	Grace time.Duration

	// Stderr gets a copy of the program's standard error. Nil means that only its end is
	// kept, for [Process.Stderr].
	Stderr io.Writer
}

// A Process is a program in a process group of its own, spoken to over its standard
// input and output: it is an [io.ReadWriteCloser]. It must be read by one goroutine, to
// its end.
type Process struct {
	Stdin  io.WriteCloser
	Stdout io.ReadCloser

	out    *os.File // is Stdout
	late   int      // bytes that were read after their time
	cmd    *exec.Cmd
	grace  time.Duration
	stderr tail
	done   chan struct{}
	err    error
	ending sync.Once

	asked sync.Once     // SIGTERM goes once: many programs take a second for a command to drop everything
	hurry chan struct{} // closed when it has gone
}

// Launch starts a program. An error means that nothing runs.
//
// Where there are process groups the program leads one of its own, so that signals
// to this process's group do not reach it. When the program exits, by itself or
// not, what it left in its group is killed. If this process dies, the program finds
// the end of its input.
func Launch(o ProcessOptions) (*Process, error) {
	if len(o.Args) == 0 {
		return nil, errors.New("host: no program to start: name one")
	}
	p := &Process{cmd: exec.Command(o.Args[0], o.Args[1:]...), grace: o.Grace, done: make(chan struct{}), hurry: make(chan struct{})}
	if p.grace == 0 {
		p.grace = defaultGrace
	}
	p.cmd.Dir, p.cmd.Env = o.Dir, o.Env
	procgroup.Own(p.cmd)
	if err := p.start(o.Stderr); err != nil {
		return nil, fmt.Errorf("host: start %s: %w", o.Args[0], err)
	}
	return p, nil
}

// start uses pipes of its own: those of [exec.Cmd] are closed by its Wait, under
// whoever still reads what the program said last.
func (p *Process) start(stderr io.Writer) error {
	var ours, theirs [3]*os.File
	for i := range ours {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(ours[:i], theirs[:i])
			return err
		}
		ours[i], theirs[i] = r, w
	}
	ours[0], theirs[0] = theirs[0], ours[0] // of its input this side writes
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	err := p.cmd.Start()
	closeAll(theirs[:])
	if err != nil {
		closeAll(ours[:])
		return err
	}
	p.Stdin, p.Stdout, p.out = ours[0], ours[1], ours[1]
	go p.listen(ours[2], stderr)
	go p.wait(ours[2])
	return nil
}

func closeAll(lists ...[]*os.File) {
	for _, list := range lists {
		for _, f := range list {
			f.Close()
		}
	}
}

// listen reads the standard error.
func (p *Process) listen(stderr *os.File, also io.Writer) {
	defer stderr.Close()
	var to io.Writer = &p.stderr
	if also != nil {
		to = io.MultiWriter(to, also)
	}
	_, _ = io.Copy(to, stderr)
}

// wait reaps the program and at once kills what it left behind: while a member of
// its group lives, the group's number cannot be given to another.
func (p *Process) wait(stderr *os.File) {
	err := p.cmd.Wait()
	_ = procgroup.Kill(p.cmd.Process)
	p.bury()
	if state := p.cmd.ProcessState; state != nil {
		err = errors.New(state.String())
	}
	p.err = fmt.Errorf("host: the program ended: %w", err)
	left := time.Now().Add(leftOpen) // what left the group may hold them open
	_, _ = stderr.SetReadDeadline(left), p.out.SetReadDeadline(left)
	close(p.done)
}

// Read reads what the program writes. Once the program has exited, that is whatever it
// still wrote, and then the end, if need be with the error [os.ErrDeadlineExceeded]: what
// left its group may hold the output open, for a second at most.
func (p *Process) Read(b []byte) (n int, err error) {
	n, err = p.out.Read(b)
	if errors.Is(err, os.ErrDeadlineExceeded) && p.late < pipeBytes { // this process may have had no time until now
		_ = p.out.SetReadDeadline(time.Now().Add(atOnce))
		n, err = p.out.Read(b)
		p.late += n
	}
	return n, err
}

// Write writes to the program.
func (p *Process) Write(b []byte) (n int, err error) { return p.Stdin.Write(b) }

// bury waits until the kernel has taken away what was killed.
func (p *Process) bury() {
	tick := time.NewTicker(pollGroup)
	defer tick.Stop()
	end := time.NewTimer(defaultGrace)
	defer end.Stop()
	for procgroup.Alive(p.cmd.Process) {
		select {
		case <-tick.C:
		case <-end.C: // zombies whose parent does not wait for them
			return
		}
	}
}

// Pid returns the program's process id, which is its group's id, too.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed once the program has exited and nothing of its group is left. What
// it wrote before may still wait in Stdout.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns how the program exited, and nil while it runs.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// Stderr returns the end of what the program wrote to its standard error. It is for
// people who look now, and may hold anything: it must not become durable.
func (p *Process) Stderr() string { return p.stderr.String() }

// Close ends the program: first by the end of its input, then by SIGTERM to its
// group, then by SIGKILL, each of the gentle steps bounded by the grace. When it
// returns, Done is closed. It may be called more than once and at the same time, as may
// [Process.Terminate]. What waits in Stdout is left to its reader, who closes it.
func (p *Process) Close() error {
	p.ending.Do(func() {
		p.Stdin.Close()
		if p.exits(p.hurry) {
			return
		}
		p.ask()
		if p.exits(nil) {
			return
		}
		_ = procgroup.Kill(p.cmd.Process)
	})
	<-p.done
	return nil
}

// Terminate ends the program without waiting for the end of its input to do so: SIGTERM
// goes to its group now, before its input ends, and SIGKILL after the grace. Where
// there are no process groups the program is killed. It returns at once; a Close that
// is at work goes on from there, and one after it waits for the end.
func (p *Process) Terminate() {
	p.ask()
	go p.Close()
}

// ask sends the SIGTERM, unless the number of the group may be another's by now.
func (p *Process) ask() {
	p.asked.Do(func() {
		if p.Err() == nil {
			_ = procgroup.Ask(p.cmd.Process)
		}
		close(p.hurry)
	})
}

// exits waits for the program's exit, as long as the grace and no hurry allow.
func (p *Process) exits(hurry <-chan struct{}) bool {
	end := time.NewTimer(p.grace)
	defer end.Stop()
	select {
	case <-p.done:
		return true
	case <-hurry:
		return false
	case <-end.C:
		return false
	}
}
