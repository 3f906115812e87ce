//go:build linux || darwin

package acp_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

// A program is the test binary as an agent, which notes what it gets on a desk and does
// what files there say.
type program struct{ hosttest.Desk }

func playAgent(dir string) int { return program{hosttest.Desk{Dir: dir}}.run() }

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
		p.Note("methods", m.Method)
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
	case p.Is("refuse"):
		return ""
	case p.Is("hang"):
		p.Note("begun", text)
		select {}
	}
	p.Note("received", text)
	fmt.Println(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ACK"}}}}`)
	if text == "die" {
		os.Exit(3)
	}
	return `{"stopReason":"end_turn"}`
}

// serve runs the program behind a host and returns how prompts get to it.
func serve(t *testing.T) (program, *hosttest.Recorder, hosttest.Patient) {
	t.Helper()
	p := program{hosttest.Desk{Dir: t.TempDir()}}
	r, a := hosttest.Serve(t, acp.Kind, acp.Starter(host.ProcessOptions{
		Args: []string{os.Args[0]}, Env: append(os.Environ(), "ACP_TEST_AGENT="+p.Dir), Grace: 10 * time.Millisecond,
	}, acp.Options{}), adapter.Absent)
	return p, r, a
}

func TestConformance(t *testing.T) {
	adaptertest.Run(t, func(t *testing.T) adaptertest.Harness {
		p, _, a := serve(t)
		return p.Harness(a, func() ([]string, error) { return hosttest.Notes[string](p.Desk, "received") })
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
	ends := r.Await(t, 3, nil)
	if ends[0].Outcome != host.Success || ends[1].Code != host.CodeAgentExited || ends[1].Outcome != host.Interrupted || ends[2].Outcome != host.Success {
		t.Errorf("got %+v, want success, agent_exited, success", ends)
	}
	methods, err := hosttest.Notes[string](p.Desk, "methods")
	if err != nil {
		t.Fatal(err)
	}
	if all := strings.Join(methods, " "); all != "initialize session/new session/prompt session/prompt initialize session/load _docket/ping session/prompt" {
		t.Errorf("got %s, want the session loaded again", all)
	}
}
