package realagent

import (
	"bytes"
	"os/exec"
	"sync"
	"time"

	"github.com/docket-go/docket/adapter/procgroup"
)

// grace is how long a program may take to end when it is asked to.
const grace = 3 * time.Second

// Command returns the command that runs the program with these arguments, in its
// home and working directory and in a process group of its own. Who starts it has
// to end it, with [Kill].
func (h *Home) Command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.Path, args...)
	cmd.Env, cmd.Dir = h.Env, h.Work
	procgroup.Own(cmd)
	return cmd
}

// Kill ends a started command at once, with its whole process group. The caller
// waits for it.
func Kill(cmd *exec.Cmd) error { return procgroup.Kill(cmd.Process) }

// A Process is a program that runs.
type Process struct {
	cmd  *exec.Cmd
	said safeBuffer
	done chan struct{} // closed once it was waited for
}

// Start runs the program with these arguments, without input, until the test or
// the process ends.
func (h *Home) Start(args ...string) *Process {
	h.t.Helper()
	p := &Process{cmd: h.Command(args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = &p.said, &p.said, grace
	if err := p.cmd.Start(); err != nil {
		h.t.Fatalf("%s: %v", h.Program.Name, err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	h.t.Cleanup(p.End)
	return p
}

// Said returns what the process has printed so far, for people and for tests.
func (p *Process) Said() string { return p.said.String() }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Kill ends the whole group at once, as kill -9 does, and waits for the process.
func (p *Process) Kill() {
	_ = procgroup.Kill(p.cmd.Process)
	<-p.done
}

// End asks the group to end, and kills what is left of it after a while.
func (p *Process) End() {
	_ = procgroup.Ask(p.cmd.Process)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
	}
	p.Kill()
}

// safeBuffer is a buffer that is read while a process writes it.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
