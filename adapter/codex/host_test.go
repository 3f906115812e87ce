//go:build linux || darwin

package codex_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
)

func init() {
	parts["program"] = func() int { return program{hosttest.Desk{Dir: os.Getenv("CODEX_TEST_DIR")}}.run() }
}

// A program is the test binary as codex, which stores what it gets on a desk and does
// what files there say.
type program struct{ hosttest.Desk }

// A message is one that the program has stored.
type message struct{ Client, Text string }

// received returns what it has stored.
func (p program) received() ([]message, error) { return hosttest.Notes[message](p.Desk, "received") }

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
		case m.Method == "turn/start" && p.Is("refuse"):
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
	stored, err := p.received()
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
	if p.Is("hang") {
		p.Note("begun", m)
		select {}
	}
	p.Note("received", m)
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

// serve runs the program behind a host and returns how prompts get to it.
func serve(t *testing.T) (program, *hosttest.Recorder, hosttest.Patient) {
	t.Helper()
	p := program{hosttest.Desk{Dir: t.TempDir()}}
	r, a := hosttest.Serve(t, codex.Kind, codex.Starter(host.ProcessOptions{
		Args: []string{os.Args[0]}, Env: append(os.Environ(), "CODEX_TEST_PART=program", "CODEX_TEST_DIR="+p.Dir), Grace: 10 * time.Millisecond,
	}, codex.Options{}), adapter.CannotTell)
	return p, r, a
}

// insist hands over a prompt again and again while the program dies meanwhile.
func insist(t *testing.T, p hosttest.Patient, prompt adapter.Prompt) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
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
		h := p.Harness(a, func() (texts []string, err error) {
			stored, err := p.received()
			for _, m := range stored {
				texts = append(texts, m.Text)
			}
			return texts, err
		})
		h.LookupMayNotTell = true // while the program does not run yet
		return h
	})
}

// TestProgramThatIsStartedAgain goes on with its thread, and knows what it has.
func TestProgramThatIsStartedAgain(t *testing.T) {
	p, r, a := serve(t)
	for _, text := range []string{"one", "die", "two", "die", "one"} {
		insist(t, a, adapter.Prompt{MID: text, Session: "s1", Text: text})
	}
	var codes []string
	for _, f := range r.Await(t, 5, func(f host.Finished) bool { return f.Code == host.CodeSubmitFailed }) { // handed to a program that was dying
		codes = append(codes, f.Code)
	}
	hosttest.Equal(t, "ends", codes, []string{"", host.CodeAgentExited, "", codex.CodeRepeated, codex.CodeRepeated})
	stored, err := p.received()
	if err != nil || len(stored) != 3 {
		t.Errorf("got %v, %v, want one, die, two, once each", stored, err)
	}
}
