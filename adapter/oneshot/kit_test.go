//go:build linux || darwin

package oneshot_test

import (
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
	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
)

// escape makes a session of the command, out of the reach of its parent's group.
func escape(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// A desk is a directory in which the test binary, as a program, notes each prompt that
// it works on, and finds what else to do.
type desk struct{ dir string }

func (d desk) file(name string) string { return filepath.Join(d.dir, name) }

func (d desk) is(name string) bool {
	_, err := os.Stat(d.file(name))
	return err == nil
}

func playDesk(dir string) int { return desk{dir}.work() }

// work is the program: it speaks as Codex does.
func (d desk) work() int {
	data, _ := io.ReadAll(os.Stdin)
	fmt.Println(threadStarted)
	switch {
	case d.is("refuse"):
		return 1
	case d.is("hang"):
		write(d.dir, "begun", nil)
		select {}
	}
	f, err := os.OpenFile(d.file("received"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 1
	}
	if json.NewEncoder(f).Encode(string(data)) != nil || f.Close() != nil {
		return 1
	}
	fmt.Println(turnStarted)
	if string(data) == "die" {
		return 3
	}
	fmt.Println(said("ACK"))
	fmt.Println(turnCompleted)
	return 0
}

func (d desk) received() (list []adapter.Prompt, err error) {
	data, err := os.ReadFile(d.file("received"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	for decoder.More() {
		var p adapter.Prompt
		if err := decoder.Decode(&p.Text); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, err
}

// A recorder takes what a broker has, as the owner of a turn log does.
type recorder struct {
	mu   sync.Mutex
	ends []host.Finished
}

func (r *recorder) run(o *host.Owner) {
	for {
		n, err := o.Next()
		if err != nil {
			return
		}
		switch n := n.(type) {
		case host.Offer:
			err = o.Dispatch(n.Token)
		case host.Question:
			err = o.Answer(n, adapter.Absent)
		case host.Emission:
			if f, end := n.Value.(host.Finished); end {
				r.mu.Lock()
				r.ends = append(r.ends, f)
				r.mu.Unlock()
				err = errors.Join(o.Ack(n.Token, n.N), o.Ready(n.Token))
			}
		}
		if err != nil {
			return // the connection is lost
		}
	}
}

// serve runs the program behind a host and returns how prompts get to it.
func serve(t *testing.T) (desk, *recorder, patient) {
	t.Helper()
	dir, err := os.MkdirTemp("", "one") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := desk{t.TempDir()}
	b, err := host.Open(host.Options{
		Session: adapter.Session{ID: "s1", Dir: dir}, FirstBackoff: -1,
		Start: oneshot.Starter(oneshot.Codex, host.ProcessOptions{
			Args:  []string{os.Args[0]},
			Env:   append(os.Environ(), "ONESHOT_TEST_DESK="+d.dir, "GORACE=atexit_sleep_ms=0"),
			Grace: 10 * time.Millisecond,
		}, oneshot.Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	t.Cleanup(func() { cancel(); work.Wait() })
	work.Go(func() {
		if err := b.Serve(ctx); err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	owner, err := host.Attach(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	work.Go(func() { r.run(owner) })
	t.Cleanup(func() { owner.Close() })
	if err := owner.Ready(""); err != nil {
		t.Fatal(err)
	}
	a, err := oneshot.Kind.Open(adapter.Session{ID: "s1", Dir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d, r, patient{a.(*host.Client)}
}

// A patient adapter waits for the end of the turn before, as the pass after each turn
// does.
type patient struct{ *host.Client }

func (p patient) Insert(ctx context.Context, prompt adapter.Prompt) error {
	err := p.Client.Insert(ctx, prompt)
	for errors.Is(err, adapter.ErrBusy) && ctx.Err() == nil {
		err = p.Client.Insert(ctx, prompt)
	}
	return err
}

func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
		d, _, a := serve(t)
		return adaptertest.Harness{
			Adapter:  a,
			Expect:   func(p adapter.Prompt) adapter.Prompt { return adapter.Prompt{Text: p.Text} },
			Received: d.received,
			Refuse:   func() error { return os.WriteFile(d.file("refuse"), nil, 0o600) },
			Restore:  func() error { return os.Remove(d.file("refuse")) },
			Hang: func() (func() bool, error) {
				return func() bool { return d.is("begun") }, os.WriteFile(d.file("hang"), nil, 0o600)
			},
		}
	})
}

// TestBehindAHost runs turns of which one has no end: the agent itself stays.
func TestBehindAHost(t *testing.T) {
	_, r, a := serve(t)
	texts := []string{"one", "die", "two"}
	for _, text := range texts {
		if err := a.Insert(t.Context(), adapter.Prompt{MID: text, Session: "s1", Text: text}); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	end, tick := time.NewTimer(patience), time.NewTicker(5*time.Millisecond)
	defer end.Stop()
	defer tick.Stop()
	for {
		r.mu.Lock()
		ends := r.ends
		r.mu.Unlock()
		if len(ends) == len(texts) {
			if ends[0].Outcome != host.Success || ends[1].Code != host.CodeAgentExited || ends[2].Outcome != host.Success {
				t.Errorf("got %+v, want success, agent_exited, success", ends)
			}
			return
		}
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatalf("got the ends %v, want three", ends)
		}
	}
}
