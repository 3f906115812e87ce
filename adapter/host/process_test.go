//go:build linux || darwin

package host_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/host"
)

// launch starts a shell script in a group of its own.
func launch(t *testing.T, script string, set ...func(*host.ProcessOptions)) *host.Process {
	t.Helper()
	o := host.ProcessOptions{Args: []string{"sh", "-c", script}}
	for _, f := range set {
		f(&o)
	}
	p, err := host.Launch(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(); p.Stdout.Close() })
	return p
}

// noGroup reports that nothing of the group is alive.
func noGroup(pid int) bool { return syscall.Kill(-pid, 0) == syscall.ESRCH }

func TestProcessEndsWithItsGroup(t *testing.T) {
	for _, tt := range []struct{ name, script, says string }{
		{"at the end of its input", "sleep 1000 & echo up; cat >/dev/null", "exit status 0"},
		{"at SIGTERM", "sleep 1000 & echo up; exec sleep 1000", "signal: terminated"},
		{"at SIGKILL", "trap '' TERM; sleep 1000 & echo up; while :; do sleep 1000 & wait; done", "signal: killed"},
		{"by itself", "sleep 1000 & echo up; exit 7", "exit status 7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, tt.script, func(o *host.ProcessOptions) { o.Grace = 200e6 })
			if line, err := bufio.NewReader(p).ReadString('\n'); line != "up\n" {
				t.Fatalf("got %q, %v, want up", line, err)
			}
			if tt.name == "by itself" {
				<-p.Done()
			} else if err := p.Err(); err != nil {
				t.Errorf("Err while it runs: got %v, want nil", err)
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
			if err := p.Err(); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %s", err, tt.says)
			}
			if !noGroup(p.Pid()) {
				t.Error("got something of its group alive, want nothing")
			}
		})
	}
}

// Each line is what the program did, in order: SIGTERM comes once and before the end of
// its input, and SIGKILL where it is not heeded.
func TestTerminate(t *testing.T) {
	for _, tt := range []struct{ name, script, said, says string }{
		{"heeded", "trap 'echo term; exit 3' TERM; echo up; cat; echo end of input", "term\n", "exit status 3"},
		{"heeded later", "trap 'echo term' TERM; echo up; cat; echo end of input", "term\nend of input\n", "exit status 0"},
		{"ignored", "trap '' TERM; echo up; while :; do sleep 1000 & wait; done", "", "signal: killed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, tt.script, func(o *host.ProcessOptions) {
				if tt.name == "ignored" {
					o.Grace = 200e6
				}
			})
			in := bufio.NewReader(p)
			if line, err := in.ReadString('\n'); line != "up\n" {
				t.Fatalf("got %q, %v, want up", line, err)
			}
			p.Terminate()
			p.Terminate()
			<-p.Done()
			if said, err := io.ReadAll(in); string(said) != tt.said || err != nil {
				t.Errorf("got %q, %v, want %q", said, err, tt.said)
			}
			if err := p.Err(); err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %s", err, tt.says)
			}
			p.Terminate() // nothing is left to end
			if err := p.Close(); err != nil || !noGroup(p.Pid()) {
				t.Errorf("got %v, and its group gone: %v", err, noGroup(p.Pid()))
			}
		})
	}
}

// A Close that waits for a program to take the end of its input waits no more.
func TestTerminateHurriesClose(t *testing.T) {
	p := launch(t, "cat; echo end of input; exec sleep 1000", func(o *host.ProcessOptions) { o.Grace = time.Hour })
	closed := make(chan error, 1)
	go func() { closed <- p.Close() }()
	if line, err := bufio.NewReader(p).ReadString('\n'); line != "end of input\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	p.Terminate()
	if err := receive(t, "end of Close", closed); err != nil {
		t.Error(err)
	}
	if err := p.Err(); err == nil || !strings.Contains(err.Error(), "signal: terminated") {
		t.Errorf("got %v, want it terminated", err)
	}
}

// An agent that starts a program for every prompt does not make its seat grow.
func TestSeatDropsWhatEnded(t *testing.T) {
	seat := &host.Seat{}
	var lasting *host.Process
	for i := range 1000 {
		args := []string{"true"}
		if i == 10 {
			args = []string{"cat"}
		}
		p, err := seat.Launch(host.ProcessOptions{Args: args})
		if err != nil {
			t.Fatal(err)
		}
		if i == 10 {
			lasting = p
			defer p.Stdout.Close()
			defer p.Close()
			continue
		}
		<-p.Done()
		p.Stdout.Close()
		p.Stdin.Close()
		if n := host.Kept(seat); n > 2 {
			t.Fatalf("after %d programs: got %d kept, want the one that runs and the last", i+1, n)
		}
	}
	if err := lasting.Err(); err != nil || host.Kept(seat) != 2 {
		t.Errorf("got %d kept, and of the one that runs: %v", host.Kept(seat), err)
	}
}

// What a program said last can be read after its end, and its standard error is kept in
// part.
func TestLastWords(t *testing.T) {
	var copied strings.Builder
	p := launch(t, "echo last words; head -c 100000 /dev/zero | tr '\\0' x >&2; echo bye >&2", func(o *host.ProcessOptions) {
		o.Env = append(os.Environ(), "A=b")
		o.Stderr = &copied
	})
	<-p.Done()
	must(t, host.Expire(p)) // this process had no time until now
	if text, err := io.ReadAll(p); string(text) != "last words\n" || err != nil {
		t.Errorf("got %q, %v, want its last words", text, err)
	}
	eventually(t, "its standard error is kept", func() bool { return strings.HasSuffix(p.Stderr(), "xbye\n") })
	if len(p.Stderr()) > 4096 {
		t.Errorf("got %d bytes of it, want them bounded", len(p.Stderr()))
	}
}

// What left the group of a program and holds its output open is not waited for, and
// nothing is lost for it.
func TestOutputHeldOpen(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	p := launch(t, `setsid sh -c 'echo $$; exec sleep 1000' & cat`)
	out := bufio.NewReader(p)
	line, err := out.ReadString('\n')
	must(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	must(t, err)
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	if _, err := io.WriteString(p, "last words\n"); err != nil {
		t.Fatal(err)
	}
	must(t, p.Close())
	if text, err := io.ReadAll(out); string(text) != "last words\n" || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %q, %v, want its last words and that the time is over", text, err)
	}
}

func TestLaunchFails(t *testing.T) {
	for _, args := range [][]string{nil, {"/no/such/program"}, {t.TempDir()}} {
		if p, err := host.Launch(host.ProcessOptions{Args: args}); err == nil {
			p.Close()
			t.Errorf("%q: got no error, want one", args)
		}
	}
	seat := &host.Seat{} // stands alone
	seat.Publish(host.State{Name: "a"})
	p, err := seat.Launch(host.ProcessOptions{Args: []string{"cat"}})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	p.Stdout.Close()
}

// A shell is an agent that is a real program and answers nothing.
type shell struct {
	*fake
	p *host.Process
}

func (s shell) Done() <-chan struct{} { return s.p.Done() }
func (s shell) Err() error            { return s.p.Err() }
func (s shell) Close() error          { return s.p.Close() }

// sleeps starts an agent that outlives the end of its input, and a child of its own.
func sleeps(pids string) host.Starter {
	return func(_ context.Context, s *host.Seat) (host.Agent, error) {
		p, err := s.Launch(host.ProcessOptions{
			Args: []string{"sh", "-c", `trap '' TERM; sleep 1000 & echo $$ >>"$0"; while :; do sleep 1000 & wait; done`, pids}, Grace: 50e6})
		if err != nil {
			return nil, err
		}
		return shell{newFake(), p}, nil
	}
}

// firstPid waits for a pid in the file.
func firstPid(t *testing.T, pids string) int {
	t.Helper()
	pid := 0
	eventually(t, "the agent runs", func() bool {
		text, _ := os.ReadFile(pids)
		line, _, whole := strings.Cut(string(text), "\n")
		var err error
		pid, err = strconv.Atoi(line)
		return whole && err == nil
	})
	return pid
}

func TestStopEndsTheGroup(t *testing.T) {
	dir := newDir(t)
	pids := filepath.Join(t.TempDir(), "pids")
	stop := serve(t, dir, sleeps(pids))
	pid := firstPid(t, pids)
	eventually(t, "its group is noted", func() bool { _, err := os.Stat(filepath.Join(dir, "host.agent")); return err == nil })
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if !noGroup(pid) {
		t.Error("got something of its group alive, want nothing")
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 || left[0].Name() != "host.lock" {
		t.Errorf("got %v, %v left, want the lock alone", left, err)
	}
}

// A broker is killed; its agent hears neither the end of its input nor SIGTERM. The next
// broker ends it before it starts another.
func TestNextBrokerEndsTheLeftover(t *testing.T) {
	dir := newDir(t)
	pids := filepath.Join(t.TempDir(), "pids")
	broker := run(t, "HOST_TEST_DIR="+dir, "HOST_TEST_PIDS="+pids)
	pid := firstPid(t, pids)
	t.Cleanup(func() { syscall.Kill(-pid, syscall.SIGKILL) })
	eventually(t, "its group is noted", func() bool { _, err := os.Stat(filepath.Join(dir, "host.agent")); return err == nil })
	if _, err := host.Open(host.Options{Session: session(dir), Start: only(newFake())}); err == nil {
		t.Fatal("got a second broker, want ErrRunning")
	}
	if err := broker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = broker.Wait()
	if !alive(pid) {
		t.Fatal("got the agent dead, want one that outlives its broker")
	}
	serve(t, dir, only(newFake()), func(o *host.Options) { o.StopGrace = 100e6 })
	if alive(pid) {
		t.Error("got the leftover alive, want it ended")
	}
}

// What the file names is ended only if it is that very process.
func TestLeftoverOfAnotherIsLeftAlone(t *testing.T) {
	for _, text := range []string{
		`{"pid":%d,"start":"long ago"}`, `{"pid":%d}`, `{"pid":-%d,"start":"x"}`, `{"pid":1,"start":""}`, `{`, `[]`, ``, `{"pid":99999999,"start":"x"}`,
	} {
		dir := newDir(t)
		p := launch(t, "echo up; exec sleep 1000", func(o *host.ProcessOptions) { o.Grace = -1 })
		if strings.Contains(text, "%d") {
			text = fmt.Sprintf(text, p.Pid())
		}
		if err := os.WriteFile(filepath.Join(dir, "host.agent"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		stop := serve(t, dir, only(newFake()))
		select {
		case <-p.Done():
			t.Errorf("%s: got an innocent process ended, want it alone", text)
		default:
		}
		_ = stop()
		p.Close()
	}
}

// The program knows whose agent it is, and an agent that does not come to be leaves no
// program behind.
func TestLaunchedForASession(t *testing.T) {
	dir := newDir(t)
	programs := make(chan *host.Process, 9)
	serve(t, dir, func(_ context.Context, s *host.Seat) (host.Agent, error) {
		p, err := s.Launch(host.ProcessOptions{
			Args: []string{"sh", "-c", `echo "$DOCKET_SESSION $DOCKET_HOME $A"; exec sleep 1000`},
			Env:  []string{"A=b", "DOCKET_SESSION=another", "PATH=" + os.Getenv("PATH")}, Grace: -1,
		})
		if err != nil {
			return nil, err
		}
		line, err := bufio.NewReader(p).ReadString('\n')
		if line != "s1 /a/store b\n" {
			t.Errorf("got %q, %v, want session, store and its own", line, err)
		}
		programs <- p
		return nil, errors.New("it does not greet")
	}, func(o *host.Options) { o.Session.Store = "/a/store" })
	p := receive(t, "program", programs)
	<-p.Done()
	eventually(t, "its group is forgotten", func() bool { _, err := os.Stat(filepath.Join(dir, "host.agent")); return err != nil })
}
