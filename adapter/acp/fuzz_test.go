package acp_test

import (
	"context"
	"testing"

	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
)

// FuzzAgentSays has an agent say anything inside a turn: nothing breaks, and the turn
// has one end, be it that of the agent.
func FuzzAgentSays(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}\n", "{\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}\n", "{\"id\":3,\"error\":{\"code\":-32602}}\n",
		`{"method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}` + "\n",
		`{"method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"a b","rawInput":{"x":[1,"b"]}}}}` + "\n",
		`{"id":"q","method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"c"},"options":[{"optionId":"o","kind":"allow_once"}]}}` + "\n",
		`{"method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"config_option_update","configOptions":[{"category":"model","currentValue":{}}]}}}` + "\n",
		"\xff\xfe\n[[[\n", `{"id":1e9,"method":"x"}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		agent, a := open(t, acp.Options{PieceDelay: -1, MaxLineBytes: 1000}, nil)
		s, answer := submit(context.Background(), a, "go")
		agent.Expect("session/prompt")
		_, _ = agent.Conn.Write(said)
		_, _ = agent.Conn.Write([]byte("\n"))
		agent.chunk("end")
		agent.Conn.Close()
		err := hosttest.Receive(t, "answer", answer)
		hosttest.Receive(t, "the end of the agent", a.Done())
		if err == nil {
			s.End(t)
		} else if len(s.Values())+len(s.Ends()) > 0 {
			t.Errorf("got %q and %v after %v, want nothing", s.All(), s.Ends(), err)
		}
	})
}
