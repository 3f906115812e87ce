//go:build linux || darwin

package codex_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
)

func init() { parts["program"] = func() int { return program{os.Getenv("CODEX_TEST_DIR")}.run() } }

// A program is the test binary as codex, which stores what it gets in a directory and
// does what files there say.
type program struct{ dir string }

func (p program) file(name string) string { return filepath.Join(p.dir, name) }

func (p program) is(name string) bool {
	_, err := os.Stat(p.file(name))
	return err == nil
}

func (p program) set(name string) error { return os.WriteFile(p.file(name), nil, 0o600) }

// A message is one that the program has stored.
type message struct{ Client, Text string }

// note adds a message to a file.
func (p program) note(name string, m message) {
	f, err := os.OpenFile(p.file(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if err := json.NewEncoder(f).Encode(m); err != nil {
		panic(err)
	}
}

func (p program) notes(name string) (list []message, err error) {
	data, err := os.ReadFile(p.file(name))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	d := json.NewDecoder(strings.NewReader(string(data)))
	for d.More() {
		var m message
		if err := d.Decode(&m); err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, err
}

// run is the program.
func (p program) run() int {
	in := bufio.NewReader(os.Stdin)
	for n := 0; ; n++ {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				ClientUserMessageID string
				Input               []struct{ Text string }
			}
		}
		if json.Unmarshal(line, &m) != nil {
			return 1
		}
		result := map[string]string{
			"initialize": hello, "thread/start": madeOne, "thread/resume": madeOne, "thread/name/set": `{}`,
			"thread/turns/list": p.list(), "turn/interrupt": `{}`, "turn/start": fmt.Sprintf(`{"turn":{"id":"u-%d"}}`, n),
		}[m.Method]
		switch {
		case m.ID == nil:
		case m.Method == "turn/start" && p.is("refuse"):
			fmt.Printf(`{"id":%s,"error":{"code":-32600,"message":"not now"}}`+"\n", m.ID)
		default:
			fmt.Printf(`{"id":%s,"result":%s}`+"\n", m.ID, result)
			if m.Method == "turn/start" {
				p.work(fmt.Sprintf("u-%d", n), message{m.Params.ClientUserMessageID, m.Params.Input[0].Text})
			}
		}
	}
}

// list is the answer with every stored message, newest first.
func (p program) list() string {
	stored, err := p.notes("received")
	if err != nil {
		panic(err)
	}
	var turns []string
	for _, m := range slices.Backward(stored) {
		turns = append(turns, turnOf("completed", m.Client))
	}
	return `{"data":[` + strings.Join(turns, ",") + `],"nextCursor":null}`
}

// work works through a message.
func (p program) work(turn string, m message) {
	if p.is("hang") {
		p.note("begun", m)
		select {}
	}
	p.note("received", m)
	say := func(method, fields string) {
		fmt.Printf(`{"method":%q,"params":{"threadId":"t-1","turnId":%q,%s}}`+"\n", method, turn, fields)
	}
	say("item/completed", fmt.Sprintf(`"item":{"type":"userMessage","id":"i","clientId":%q}`, m.Client))
	say("item/completed", `"item":{"type":"agentMessage","id":"j","text":"ACK"}`)
	if m.Text == "die" {
		os.Exit(3)
	}
	say("turn/completed", fmt.Sprintf(`"turn":{"id":%q,"status":"completed"}`, turn))
}

// A recorder takes what a broker has, as the owner of a turn log does.
type recorder struct {
	mu   sync.Mutex
	ends []host.Finished
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
			err = o.Answer(n, adapter.CannotTell)
		case host.Emission:
			if f, end := n.Value.(host.Finished); end {
				r.mu.Lock()
				r.ends = append(r.ends, f)
				r.mu.Unlock()
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
	dir, err := os.MkdirTemp("", "codex") // short enough for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	p := program{t.TempDir()}
	b, err := host.Open(host.Options{
		Session: adapter.Session{ID: "s1", Dir: dir}, FirstBackoff: -1,
		Start: codex.Starter(host.ProcessOptions{
			Args: []string{os.Args[0]}, Env: append(os.Environ(), "CODEX_TEST_PART=program", "CODEX_TEST_DIR="+p.dir), Grace: 10 * time.Millisecond,
		}, codex.Options{}),
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
	a, err := codex.Kind.Open(adapter.Session{ID: "s1", Dir: dir}, nil)
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

// insist hands over a prompt again and again while the program dies meanwhile.
func (p patient) insist(t *testing.T, prompt adapter.Prompt) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for err := p.Insert(ctx, prompt); err != nil; err = p.Insert(ctx, prompt) {
		if !errors.Is(err, adapter.ErrGone) && !errors.Is(err, adapter.ErrUnconfirmed) || ctx.Err() != nil {
			t.Fatalf("%s: %v", prompt.MID, err)
		}
	}
}

func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
		p, _, a := serve(t)
		return adaptertest.Harness{
			Adapter:          a,
			LookupMayNotTell: true, // while the program does not run yet
			Expect:           func(p adapter.Prompt) adapter.Prompt { return adapter.Prompt{Text: p.Text} },
			Received: func() (list []adapter.Prompt, err error) {
				stored, err := p.notes("received")
				for _, m := range stored {
					list = append(list, adapter.Prompt{Text: m.Text})
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

// TestProgramThatIsStartedAgain goes on with its thread, and knows what it has.
func TestProgramThatIsStartedAgain(t *testing.T) {
	p, r, a := serve(t)
	for _, text := range []string{"one", "die", "two", "die", "one"} {
		a.insist(t, adapter.Prompt{MID: text, Session: "s1", Text: text})
	}
	end := time.After(patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	var codes []string
	for len(codes) < 5 {
		r.mu.Lock()
		codes = nil
		for _, f := range r.ends {
			if f.Code != host.CodeSubmitFailed { // handed to a program that was dying
				codes = append(codes, f.Code)
			}
		}
		r.mu.Unlock()
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("got the ends %q, want five", codes)
		}
	}
	equal(t, "ends", codes, []string{"", host.CodeAgentExited, "", codex.CodeRepeated, codex.CodeRepeated})
	stored, err := p.notes("received")
	if err != nil || len(stored) != 3 {
		t.Errorf("got %v, %v, want one, die, two, once each", stored, err)
	}
}
