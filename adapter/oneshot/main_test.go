package oneshot_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/adaptertest/realagent"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("ONESHOT_TEST_PROGRAM"); dir != "" {
		os.Exit(play(dir))
	}
	if dir := os.Getenv("ONESHOT_TEST_DESK"); dir != "" {
		os.Exit(playDesk(dir))
	}
	realagent.Isolate()
	os.Exit(m.Run())
}

// A fake is a directory from which the test binary, as a program, takes what it does:
// each process the next script, a file with one step a line. It notes its arguments
// and the prompt.
type fake struct {
	t   testing.TB
	dir string
	n   int // scripts so far
}

func newFake(t testing.TB) *fake { return &fake{t: t, dir: t.TempDir()} }

// script adds what the next process does. Steps are "read", "await NAME", "touch NAME",
// "deaf" (to SIGTERM), "close" (of the input), "child DIR", "escapee DIR", "kill",
// "exit N", "zeros N"; every other line is printed.
func (f *fake) script(steps ...string) {
	f.t.Helper()
	f.n++
	if err := os.WriteFile(filepath.Join(f.dir, fmt.Sprintf("script-%d", f.n)), []byte(strings.Join(steps, "\n")), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fake) touch(name string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), nil, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// await waits for a file of the program.
func (f *fake) await(name string) string {
	f.t.Helper()
	var data []byte
	hosttest.Eventually(f.t, "there is "+name, func() (there bool) {
		var err error
		data, err = os.ReadFile(filepath.Join(f.dir, name))
		return err == nil
	})
	return string(data)
}

// args returns the arguments of the nth process.
func (f *fake) args(n int) (args []string) {
	f.t.Helper()
	if err := json.Unmarshal([]byte(f.await(fmt.Sprintf("args-%d", n))), &args); err != nil {
		f.t.Fatal(err)
	}
	return args
}

// open returns the agent of a preset whose program is the fake.
func (f *fake) open(p oneshot.Preset, o oneshot.Options) host.Agent {
	f.t.Helper()
	return f.openIn(&host.Seat{Session: adapter.Session{ID: "s1", Dir: f.t.TempDir()}}, p, o)
}

func (f *fake) openIn(seat *host.Seat, p oneshot.Preset, o oneshot.Options) host.Agent {
	f.t.Helper()
	start := oneshot.Starter(p, host.ProcessOptions{
		Args: []string{os.Args[0]}, Env: append(os.Environ(), "ONESHOT_TEST_PROGRAM="+f.dir, "GORACE=atexit_sleep_ms=0"), Grace: 300 * time.Millisecond,
	}, o)
	a, err := start(context.Background(), seat)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { a.Close() })
	return a
}

// play is the program.
func play(dir string) int {
	n := 1
	for ; ; n++ { // the first script that no process has
		err := os.Rename(filepath.Join(dir, fmt.Sprintf("script-%d", n)), filepath.Join(dir, fmt.Sprintf("taken-%d", n)))
		if err == nil {
			break
		}
		if n > 100 {
			return 99
		}
	}
	script, _ := os.ReadFile(filepath.Join(dir, fmt.Sprintf("taken-%d", n)))
	args, _ := json.Marshal(os.Args[1:])
	write(dir, fmt.Sprintf("args-%d", n), args)
	for step := range strings.SplitSeq(string(script), "\n") {
		if code, ends := do(dir, n, step); ends {
			return code
		}
	}
	return 0
}

// write makes a file that is whole when it is there.
func write(dir, name string, data []byte) {
	_ = os.WriteFile(filepath.Join(dir, name+".new"), data, 0o600)
	_ = os.Rename(filepath.Join(dir, name+".new"), filepath.Join(dir, name))
}

func do(dir string, n int, step string) (code int, ends bool) {
	word, what, _ := strings.Cut(step, " ")
	switch word {
	case "read":
		data, _ := io.ReadAll(os.Stdin)
		write(dir, fmt.Sprintf("prompt-%d", n), data)
	case "await":
		for { // until there is such a file
			if _, err := os.Stat(filepath.Join(dir, what)); err == nil {
				break
			}
			if _, err := os.Stat(dir); err != nil { // the test is over
				return 0, true
			}
			<-time.After(2 * time.Millisecond)
		}
	case "touch":
		write(dir, what, nil)
	case "deaf":
		signal.Ignore(syscall.SIGTERM)
	case "child": // outlives its parent and holds its output
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "ONESHOT_TEST_PROGRAM="+what)
		child.Stdout = os.Stdout
		_ = child.Start()
		write(dir, "child", fmt.Append(nil, child.Process.Pid))
	case "kill":
		self, _ := os.FindProcess(os.Getpid())
		_ = self.Kill()
		select {}
	case "exit":
		_, _ = fmt.Sscan(what, &code)
		return code, true
	case "close":
		os.Stdin.Close()
	case "escapee":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "ONESHOT_TEST_PROGRAM="+what)
		child.Stdout = os.Stdout
		escape(child)
		_ = child.Start()
	case "zeros":
		var size int
		_, _ = fmt.Sscan(what, &size)
		_, _ = os.Stdout.Write(make([]byte, size))
	default:
		fmt.Println(step)
	}
	return 0, false
}

// all returns the emissions in a form that is easily compared.
func all(s *hosttest.Sink) []string { return show(s.Values()) }

func show(values []host.Value) (list []string) {
	for _, v := range values {
		switch v := v.(type) {
		case host.Text:
			list = append(list, "text "+v.Text)
		case host.Thought:
			list = append(list, "thought "+v.Text)
		case host.Result:
			list = append(list, "result "+v.Text)
		case host.Tool:
			list = append(list, fmt.Sprintf("tool %s %s %s %s", v.ID, v.Title, v.Class, v.Status))
		case host.Diagnostic:
			list = append(list, strings.Join(slices.DeleteFunc([]string{string(v.Severity), v.Code, v.Text}, func(s string) bool { return s == "" }), " "))
		case host.Usage:
			list = append(list, fmt.Sprintf("usage %d/%d %d/%d %d", v.Input, v.Cached, v.Output, v.Reasoning, v.Total))
		default:
			list = append(list, fmt.Sprintf("%T %+v", v, v))
		}
	}
	return list
}

// submit hands over a prompt, with a bound.
func submit(t testing.TB, a host.Agent, text string) (*hosttest.Sink, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hosttest.Patience)
	defer cancel()
	s := hosttest.NewSink()
	return s, a.Submit(ctx, adapter.Prompt{MID: "m-1", Text: text}, s)
}

// turn runs a whole turn.
func turn(t testing.TB, a host.Agent, text string) (*hosttest.Sink, host.Finished) {
	t.Helper()
	s, err := submit(t, a, text)
	if err != nil {
		t.Fatal(err)
	}
	return s, s.End(t)
}
