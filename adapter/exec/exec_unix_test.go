//go:build unix

package exec_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/exec"
)

// logVariable makes the test binary an agent that logs what it gets.
const logVariable = "EXEC_TEST_LOG"

func TestMain(m *testing.M) {
	if log := os.Getenv(logVariable); log != "" {
		if err := agent(log); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// got is one run of the agent.
type got struct {
	MID, Session, From string
	Input              []byte
}

func agent(log string) error {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	line, err := json.Marshal(got{os.Getenv("DOCKET_MID"), os.Getenv("DOCKET_SESSION"), os.Getenv("DOCKET_FROM"), input})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

func logged(log string) ([]adapter.Prompt, error) {
	data, err := os.ReadFile(log)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var prompts []adapter.Prompt
	for line := range bytes.Lines(data) {
		var g got
		if err := json.Unmarshal(line, &g); err != nil {
			return nil, err
		}
		prompts = append(prompts, adapter.Prompt{MID: g.MID, Session: g.Session, From: g.From, Text: string(g.Input)})
	}
	return prompts, nil
}

func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
		dir := t.TempDir()
		log := filepath.Join(dir, "log")
		mark := func(name string) func() error {
			return func() error { return os.WriteFile(filepath.Join(dir, name), nil, 0o600) }
		}
		exists := func(name string) bool { _, err := os.Stat(filepath.Join(dir, name)); return err == nil }
		a, err := exec.New(exec.Options{Dir: dir, Command: fmt.Sprintf(`
			if [ -e refuse ]; then echo 'no room' >&2; exit 3; fi
			if [ -e hang ]; then : >begun; sleep 1000; fi
			GORACE=atexit_sleep_ms=0 %s='%s' '%s'`, logVariable, log, os.Args[0])})
		if err != nil {
			t.Fatal(err)
		}
		return adaptertest.Harness{
			Adapter:  a,
			Received: func() ([]adapter.Prompt, error) { return logged(log) },
			Expect:   func(p adapter.Prompt) adapter.Prompt { p.Attributes = nil; return p },
			Refuse:   mark("refuse"),
			Restore:  func() error { return os.Remove(filepath.Join(dir, "refuse")) },
			Hang: func() (func() bool, error) {
				return func() bool { return exists("begun") }, mark("hang")()
			},
		}
	})
}

func TestExitStatusIsTheAnswer(t *testing.T) {
	for _, tt := range []struct {
		name, command string
		want          adapter.Answer
		is            error
		says          string
	}{
		{"0", "cat >/dev/null", adapter.Taken, nil, ""},
		{"0 with words", "echo warning >&2", adapter.Taken, nil, ""},
		{"75", "echo at work >&2; exit 75", adapter.Refused, adapter.ErrBusy, "busy, exit status 75: at work"},
		{"another", "echo one; echo two >&2; echo three >&2; exit 3", adapter.Refused, adapter.ErrRefused, "exit status 3: two | three"},
		{"another without words", "exit 1", adapter.Refused, adapter.ErrRefused, "exit status 1"},
		{"no such command", "docket-test-no-such-command", adapter.Refused, adapter.ErrRefused, "not found"},
		{"bad syntax", "((", adapter.Refused, adapter.ErrRefused, "exit status"},
		{"killed", "echo bye >&2; kill -9 $$", adapter.Unconfirmed, adapter.ErrUnconfirmed, "signal: killed: bye"},
		{"terminated", "kill -15 $$", adapter.Unconfirmed, adapter.ErrUnconfirmed, "signal: terminated"},
	} {
		err := insert(t, exec.Options{Command: tt.command}, adapter.Prompt{MID: "m1", Text: "text"})
		if got := adapter.AnswerOf(err); got != tt.want || !errors.Is(err, tt.is) {
			t.Errorf("%s: got %s, %v, want %s that is %v", tt.name, got, err, tt.want, tt.is)
		}
		if err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: got %q, want it to say %q", tt.name, err, tt.says)
		}
	}
}

// A command may know what it needs before the end of its input.
func TestUnreadInputIsNoFault(t *testing.T) {
	text := strings.Repeat("much more than a pipe holds ", 100_000)
	for _, command := range []string{"exit 0", "exec <&-; exit 0", "head -c 5 >/dev/null"} {
		if err := insert(t, exec.Options{Command: command}, adapter.Prompt{MID: "m1", Text: text}); err != nil {
			t.Errorf("%s: got %v, want it taken", command, err)
		}
	}
	err := insert(t, exec.Options{Command: "exit 75"}, adapter.Prompt{MID: "m1", Text: text})
	if !errors.Is(err, adapter.ErrBusy) {
		t.Errorf("exit 75: got %v, want ErrBusy", err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	flood := "head -c 20000000 /dev/zero | tr '\\0' x | tee /dev/stderr; echo the end >&2; exit 1"
	err := insert(t, exec.Options{Command: flood}, adapter.Prompt{MID: "m1"})
	if err == nil || len(err.Error()) > 700 || !strings.HasSuffix(err.Error(), "the end") {
		t.Errorf("got %.100v of %d bytes, want a short error with the end", err, len(fmt.Sprint(err)))
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("DOCKET_MID", "of somebody else")
	t.Setenv("EXEC_TEST_INHERITED", "inherited")
	out := filepath.Join(t.TempDir(), "out")
	err := insert(t, exec.Options{
		Command: `printf '%s,' "$DOCKET_SESSION" "$DOCKET_MID" "${DOCKET_FROM-unset}" "$DOCKET_HOME" "$EXEC_TEST_INHERITED" >"` + out + `"`,
		Store:   "/a/store",
	}, adapter.Prompt{MID: "m1", Session: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(out); err != nil || string(got) != "s1,m1,,/a/store,inherited," {
		t.Errorf("got %q, %v, want session, mid, an empty sender, store and the inherited one", got, err)
	}
}

// background is a command that has a child in its group which holds a pipe open
// for as long as it lives.
func background(t *testing.T, then string) (command, pipe string) {
	t.Helper()
	pipe = filepath.Join(t.TempDir(), "alive")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{ echo $$; exec sleep 1000; } >'%s' & %s`, pipe, then), pipe
}

// watch opens the pipe, which waits for the child, and returns the number of its
// group and what ends when it does.
func watch(t *testing.T, pipe string) (group int, ended <-chan struct{}) {
	t.Helper()
	f, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(f)
	if _, err := fmt.Fscanln(r, &group); err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	go func() {
		defer close(end)
		defer f.Close()
		_, _ = io.Copy(io.Discard, r)
	}()
	return group, end
}

func TestWholeGroupIsKilled(t *testing.T) {
	for _, tt := range []struct {
		name    string
		timeout time.Duration
		is      error
	}{
		{"cancelled", 0, context.Canceled},
		{"timed out", 3 * time.Second, context.DeadlineExceeded}, // the child must start within it
	} {
		command, pipe := background(t, "wait")
		a, err := exec.New(exec.Options{Command: command, Timeout: tt.timeout})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		go func() { answer <- a.Insert(ctx, adapter.Prompt{MID: "m1"}) }()
		_, ended := watch(t, pipe)
		if tt.timeout == 0 {
			cancel()
		}
		if err := <-answer; adapter.AnswerOf(err) != adapter.Unconfirmed || !errors.Is(err, tt.is) {
			t.Errorf("%s: got %v, want unconfirmed that is %v", tt.name, err, tt.is)
		}
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Errorf("%s: got a child of the command alive, want it dead", tt.name)
		}
		cancel()
	}
}

// A command may leave something running that holds its outputs open: its own exit
// is the answer, and what it left lives on.
func TestWhatIsLeftRunningDelaysNothing(t *testing.T) {
	for then, want := range map[string]adapter.Answer{"exit 0": adapter.Taken, "exit 9": adapter.Refused} {
		command, pipe := background(t, then)
		answer := make(chan error, 1)
		go func() { answer <- insert(t, exec.Options{Command: command}, adapter.Prompt{MID: "m1", Text: "x"}) }()
		group, ended := watch(t, pipe)
		if err := <-answer; adapter.AnswerOf(err) != want {
			t.Errorf("%s: got %v, want %s", then, err, want)
		}
		select {
		case <-ended:
			t.Errorf("%s: got what it left running dead, want it alive", then)
		default:
		}
		if err := syscall.Kill(-group, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
		<-ended
	}
}
