//go:build linux || darwin

package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/host"
)

// A program is the test binary as an agent, which notes what it gets in a directory
// and does what files there say.
type program struct{ dir string }

func (p program) file(name string) string { return filepath.Join(p.dir, name) }

func (p program) is(name string) bool {
	_, err := os.Stat(p.file(name))
	return err == nil
}

func (p program) set(name string) error { return os.WriteFile(p.file(name), nil, 0o600) }

// note adds a line to a file.
func (p program) note(name string, value any) {
	f, err := os.OpenFile(p.file(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if err := json.NewEncoder(f).Encode(value); err != nil {
		panic(err)
	}
}

func (p program) notes(name string) (list []string, err error) {
	data, err := os.ReadFile(p.file(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	for d.More() {
		var s string
		if err := d.Decode(&s); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, err
}

func playAgent(dir string) int { return program{dir}.run() }

// run is the program.
func (p program) run() int {
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				SessionID string
				Prompt    []struct{ Text string }
			}
		}
		if json.Unmarshal(line, &m) != nil {
			return 1
		}
		p.note("methods", m.Method)
		result := `{}`
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`
		case "session/new":
			result = `{"sessionId":"s-1"}`
		case "session/prompt":
			result = p.prompt(m.Params.Prompt[0].Text)
		}
		switch {
		case m.ID == nil:
		case result == "":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"not now"}}`+"\n", m.ID)
		default:
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		}
	}
}

// prompt works through a prompt and returns its answer.
func (p program) prompt(text string) string {
	switch {
	case p.is("refuse"):
		return ""
	case p.is("hang"):
		p.note("begun", text)
		select {}
	}
	p.note("received", text)
	fmt.Println(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ACK"}}}}`)
	if text == "die" {
		os.Exit(3)
	}
	return `{"stopReason":"end_turn"}`
}

// A recorder takes what a broker has, as the owner of a turn log does.
type recorder struct {
	mu  sync.Mutex
	got []host.Value
}

func (r *recorder) run(o *host.Owner) error {
	for {
		n, err := o.Next()
		if err != nil {
			return nil
		}
		switch n := n.(type) {
		case host.Offer:
			err = o.Dispatch(n.Token)
		case host.Question:
			err = o.Answer(n, adapter.Absent)
		case host.Emission:
			r.mu.Lock()
			r.got = append(r.got, n.Value)
			r.mu.Unlock()
			if _, end := n.Value.(host.Finished); end {
				err = errors.Join(o.Ack(n.Token, n.N), o.Ready(n.Token))
			}
		}
		if err != nil {
			return nil // the connection is lost
		}
	}
}

// serve runs the program behind a host and returns how prompts get to it.
func serve(t *testing.T) (program, *recorder, patient) {
	t.Helper()
	dir, err := os.MkdirTemp("", "acp") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := program{t.TempDir()}
	b, err := host.Open(host.Options{
		Session: adapter.Session{ID: "s1", Dir: dir}, FirstBackoff: -1,
		Start: acp.Starter(host.ProcessOptions{
			Args: []string{os.Args[0]}, Env: append(os.Environ(), "ACP_TEST_AGENT="+p.dir), Grace: 10 * time.Millisecond,
		}, acp.Options{}),
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
	work.Go(func() { _ = r.run(owner) })
	t.Cleanup(func() { owner.Close() })
	if err := owner.Ready(""); err != nil {
		t.Fatal(err)
	}
	a, err := acp.Kind.Open(adapter.Session{ID: "s1", Dir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, r, patient{a.(*host.Client)}
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
		p, _, a := serve(t)
		return adaptertest.Harness{
			Adapter: a,
			Expect:  func(p adapter.Prompt) adapter.Prompt { return adapter.Prompt{Text: p.Text} },
			Received: func() (list []adapter.Prompt, err error) {
				texts, err := p.notes("received")
				for _, text := range texts {
					list = append(list, adapter.Prompt{Text: text})
				}
				return list, err
			},
			Refuse:  func() error { return p.set("refuse") },
			Restore: func() error { return os.Remove(p.file("refuse")) },
			Hang: func() (func() bool, error) {
				return func() bool { return p.is("begun") }, p.set("hang")
			},
		}
	})
}

// TestProgramThatDies is started again for the next prompt, and loads its session.
func TestProgramThatDies(t *testing.T) {
	p, r, a := serve(t)
	for _, text := range []string{"one", "die", "two"} {
		err := adapter.ErrRefused
		for errors.Is(err, adapter.ErrRefused) { // as a sweeper does, for a program that is just going
			err = a.Insert(t.Context(), adapter.Prompt{MID: text, Session: "s1", Text: text})
		}
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	var ends []host.Finished
	end := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for len(ends) < 3 {
		ends = nil
		r.mu.Lock()
		for _, v := range r.got {
			if f, ok := v.(host.Finished); ok {
				ends = append(ends, f)
			}
		}
		r.mu.Unlock()
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("got the ends %v, want three", ends)
		}
	}
	if ends[0].Outcome != host.Success || ends[1].Code != host.CodeAgentExited || ends[1].Outcome != host.Interrupted || ends[2].Outcome != host.Success {
		t.Errorf("got %+v, want success, agent_exited, success", ends)
	}
	methods, err := p.notes("methods")
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(methods, " "); all != "initialize session/new session/prompt session/prompt initialize session/load _docket/ping session/prompt" {
		t.Errorf("got %s, want the session loaded again", all)
	}
}
