package acp_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

// TestNonsenseIsPassedOver puts everything that is no message between two that are.
func TestNonsenseIsPassedOver(t *testing.T) {
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	for _, line := range []string{
		"", " ", "\r", "hello", "{", "}", "null", "7", `"text"`, "[]", "{}", deep, `{"jsonrpc":"2.0"}`,
		`[{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}]`, // a batch, which the protocol does not have
		`{"jsonrpc":"2.0","id":999,"result":{"stopReason":"end_turn"}}`, // nobody asked
		`{"jsonrpc":"2.0","id":-1,"result":{}}`, `{"jsonrpc":"2.0","id":1e400,"result":{}}`, `{"jsonrpc":"2.0","id":1.5,"result":{}}`,
		`{"jsonrpc":"2.0","id":"3","result":{"stopReason":"end_turn"}}`, `{"jsonrpc":"2.0","id":null,"result":{}}`,
		`{"jsonrpc":"2.0","id":[3],"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`, // answered already
		`{"jsonrpc":"2.0","method":7}`, `{"jsonrpc":"2.0","method":"session/update"}`, `{"jsonrpc":"2.0","method":"session/update","params":null}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1"}}`, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":7,"update":{}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":[]}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":7}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk"}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":"x"}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call"}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call","toolCallId":{}}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"plan","entries":7}}}`,
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"usage_update","used":-1}}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`, `{"jsonrpc":"2.0","method":"session/cancel","params":{}}`,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 5000) + `","method":"fs/read_text_file"}`, // an id that nobody repeats
	} {
		f, a := open(t, whole, nil)
		s, answer := submit(context.Background(), a, "go")
		prompt := f.Expect("session/prompt")
		f.chunk("before")
		f.Say(line)
		f.chunk("after")
		f.stop(prompt, "end_turn")
		f.stop(prompt, "refusal") // a second answer
		if err := hosttest.Receive(t, "answer", answer); err != nil {
			t.Errorf("%.100s: got %v, want taken", line, err)
		}
		if end := s.End(t); end.Outcome != host.Success {
			t.Errorf("%.100s: got %+v, want the first answer", line, end)
		}
		if all := strings.Join(s.All(), ", "); all != "text before, text after" && all != "text before, text , text after" {
			t.Errorf("%.100s: got %q, want nothing of it", line, all)
		}
		a.Close()
	}
}

func TestInvalidUTF8(t *testing.T) {
	f, a := open(t, whole, nil)
	s, _ := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	f.update("{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"a\xff\xc3(b\"}}")
	f.update("{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"\xff\\u001b[31mc\",\"title\":\"\xfe evil\u202e\\u0007title\",\"kind\":\"think\",\"rawInput\":{\"a\":\"bcd\"}}")
	f.stop(prompt, "end_turn")
	s.End(t)
	hosttest.Equal(t, "emissions", s.All(), []string{"text a\ufffd\ufffd(b", "tool [31mc \"eviltitle\" think pending"})
}

func TestLongLines(t *testing.T) {
	o := acp.Options{PieceDelay: -1, MaxLineBytes: 10000}
	t.Run("update", func(t *testing.T) {
		f, a := open(t, o, nil)
		s, answer := submit(context.Background(), a, "go")
		prompt := f.Expect("session/prompt")
		for range 2 {
			f.chunk(strings.Repeat("PLANTED", 1<<17))
		}
		f.chunk("after")
		if err := hosttest.Receive(t, "answer", answer); err != nil {
			t.Errorf("got %v, want taken", err)
		}
		f.stop(prompt, "end_turn")
		s.End(t)
		hosttest.Equal(t, "emissions", s.All(), []string{"warning update_lost an update of the agent was too long to be read", "text after"})
	})
	t.Run("answer", func(t *testing.T) {
		f, a := open(t, o, nil)
		s, _ := submit(context.Background(), a, "go")
		prompt := f.Expect("session/prompt")
		f.chunk("x")
		f.answer(prompt.ID, fmt.Sprintf(`{"stopReason":"end_turn","_meta":%q}`, strings.Repeat("PLANTED", 1<<12)))
		if end := s.End(t); end.Code != host.CodeAgentExited || strings.Contains(end.Diagnostic, "PLANTED") {
			t.Errorf("got %+v, want agent_exited", end)
		}
		hosttest.Receive(t, "the end of the agent", a.Done())
	})
	t.Run("at the limit", func(t *testing.T) {
		f, a := open(t, o, nil)
		s, _ := submit(context.Background(), a, "go")
		prompt := f.Expect("session/prompt")
		line := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"%s"}}}}`
		f.Say(fmt.Sprintf(line, strings.Repeat("x", 10000-len(line)+2)))
		f.Say(fmt.Sprintf(line, strings.Repeat("y", 10001-len(line)+2)))
		f.stop(prompt, "end_turn")
		s.End(t)
		if all := s.All(); len(all) != 2 || !strings.HasPrefix(all[0], "text xxx") || !strings.HasPrefix(all[1], "warning") {
			t.Errorf("got %.40q, want the one at the limit, and the longer one lost", all)
		}
	})
	t.Run("without an end", func(t *testing.T) {
		f, a := open(t, whole, nil)
		s, _ := submit(context.Background(), a, "go")
		prompt := f.Expect("session/prompt")
		f.chunk("x")
		_, _ = f.Conn.Write([]byte(`{"jsonrpc":"2.0","id":` + string(prompt.ID) + `,"result":{"stopReason":"end_turn"}}`)) // no newline
		f.Conn.Close()
		if end := s.End(t); end.Outcome != host.Interrupted {
			t.Errorf("got %+v, want interrupted: a line without an end is none", end)
		}
	})
}

// TestFloodOfRequests has an agent ask and never read: what waits for it is bounded.
func TestFloodOfRequests(t *testing.T) {
	f, peer := newFake(t)
	d := &deaf{Peer: peer, from: make(chan struct{}), begun: make(chan struct{}, 10), ended: make(chan struct{})}
	got := make(chan *acp.Agent, 1)
	go func() {
		a, err := acp.Open(context.Background(), d, nil, whole)
		if err != nil {
			t.Error(err)
		}
		got <- a
	}()
	f.greet()
	a := hosttest.Receive(t, "agent", got)
	close(d.from)
	for range 2000 {
		f.Say(`{"jsonrpc":"2.0","id":1,"method":"terminal/create"}`)
	}
	hosttest.Receive(t, "the end of the agent", a.Done())
	if err := a.Err(); err == nil || !strings.Contains(err.Error(), "does not read") {
		t.Errorf("got %v, want that it does not read", err)
	}
}

func TestManyTools(t *testing.T) {
	f, a := open(t, whole, nil)
	s, _ := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	for i := range 3000 {
		f.update(fmt.Sprintf(`{"sessionUpdate":"tool_call","toolCallId":"c%d","kind":"read"}`, i))
	}
	f.stop(prompt, "end_turn")
	if s.End(t); len(s.Values()) != 3000 {
		t.Errorf("got %d emissions, want 3000", len(s.Values()))
	}
}

// TestAnswerBeforeTheRequest answers what it was not asked yet.
func TestAnswerBeforeTheRequest(t *testing.T) {
	f, a := open(t, whole, nil)
	for id := range 20 {
		f.Say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, id))
	}
	s, answer := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	f.chunk("x")
	if err := hosttest.Receive(t, "answer", answer); err != nil {
		t.Error(err)
	}
	f.stop(prompt, "refusal")
	if end := s.End(t); end.Code != acp.CodeRefused {
		t.Errorf("got %+v, want the answer to the request", end)
	}
}
