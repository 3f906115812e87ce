package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

// whole is the options with which a piece of text is emitted as it comes.
var whole = acp.Options{PieceDelay: -1}

func TestTextReachesTheAgentByteForByte(t *testing.T) {
	f, a := open(t, whole, nil)
	for _, text := range []string{
		"plain", "two\nlines\r\n", `"quoted" \ <b>&amp;</b>`, "\u2028\u2029\x00\x1b[201~\x7f", "日本 🎌\ufffd", "/quit", "  ", strings.Repeat("long ", 1<<18),
	} {
		s, answer := submit(context.Background(), a, text)
		prompt := f.Expect("session/prompt")
		var p struct {
			SessionID string
			Prompt    []struct{ Type, Text string }
		}
		if err := json.Unmarshal(prompt.Params, &p); err != nil || p.SessionID != "s-1" || len(p.Prompt) != 1 || p.Prompt[0].Type != "text" || p.Prompt[0].Text != text {
			t.Errorf("got %.80q, %v, want the text %.80q alone", prompt.Params, err, text)
		}
		f.stop(prompt, "end_turn")
		if err := hosttest.Receive(t, "answer", answer); err != nil {
			t.Error(err)
		}
		s.End(t)
	}
	if err := a.Submit(context.Background(), adapter.Prompt{Text: "a\xffb"}, hosttest.NewSink()); !errors.Is(err, adapter.ErrRefused) {
		t.Errorf("invalid UTF-8: got %v, want refused", err)
	}
}

func TestUpdatesBecomeValues(t *testing.T) {
	states := make(chan host.State, 100)
	f, a := open(t, whole, &host.Seat{OnState: func(s host.State) { states <- s }})
	s, answer := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	for _, u := range []string{
		`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"hm"}}`,
		`{"sessionUpdate":"agent_message_chunk","messageId":"7","content":{"type":"text","text":"one"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"PLANTED","mimeType":"image/png"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"hologram"}}`,
		`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"go"}}`,
		`{"sessionUpdate":"plan","entries":[{"content":"first","status":"completed","priority":"high"},{"content":"then","status":"pending"}]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Read /a/b.txt now","kind":"read","status":"pending","rawInput":{"path":"/a/b.txt"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"pending","content":[{"type":"content","content":{"type":"text","text":"PLANTED"}}]}`, // no news
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"in_progress","title":null,"kind":null}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":{"text":"PLANTED"}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"failed","kind":"levitate"}`,
		`{"sessionUpdate":"current_mode_update","currentModeId":"plan"}`,
		`{"sessionUpdate":"config_option_update","configOptions":[{"id":"x","category":"model","currentValue":"stub"},{"id":"y","currentValue":true}]}`,
		`{"sessionUpdate":"session_info_update","title":"A talk"}`,
		`{"sessionUpdate":"usage_update","used":11,"size":200}`,
		`{"sessionUpdate":"available_commands_update","availableCommands":[]}`,
		`{"sessionUpdate":"from_the_future"}`,
	} {
		f.update(u)
	}
	f.answer(prompt.ID, `{"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":4,"totalTokens":7,"thoughtTokens":null,"cachedReadTokens":1}}`)
	if err := hosttest.Receive(t, "answer", answer); err != nil {
		t.Fatal(err)
	}
	if f := s.End(t); f != (host.Finished{Outcome: host.Success}) {
		t.Errorf("got %+v, want success", f)
	}
	hosttest.Equal(t, "emissions", s.All(), []string{
		"thought hm", "text one", "text [image]", "thought [x] first\n[ ] then\n",
		`tool c1 "Read … now" read pending`, `tool c1 "Read … now" read running`, `tool c1 "Read … now" read done`,
		`tool c2 "" other failed`, "host.Usage {Input:3 Cached:1 Output:4 Reasoning:0 Total:7}",
	})
	if n := s.Natives()[1]; n != (host.Native{Provider: "acp", Session: "s-1", Item: "7"}) {
		t.Errorf("native: got %+v", n)
	}
	close(states)
	var published []string
	for s := range states {
		published = append(published, s.Name+"="+s.Value)
	}
	hosttest.Equal(t, "states", published, []string{"agent=Fake 7", "session=s-1", "mode=plan", "model=stub", "title=A talk", "context=11/200"})
}

func TestChunksAreJoined(t *testing.T) {
	f, a := open(t, acp.Options{PieceDelay: 1 << 40, PieceBytes: 10}, nil)
	s, _ := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	for _, text := range []string{"a", "b", "", "c"} {
		f.chunk(text)
	}
	f.update(`{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"d"}}`) // another kind
	f.chunk("0123456")
	f.chunk("789 and more")                                                                                       // as much as is held back
	f.chunk("e")                                                                                                  // then a tool
	f.update(`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"x","kind":"think"}`)                        //
	f.update(`{"sessionUpdate":"agent_message_chunk","messageId":"1","content":{"type":"text","text":"f"}}`)      // another message
	f.update(`{"sessionUpdate":"agent_message_chunk","messageId":"2","content":{"type":"text","text":"\ud83c"}}`) // half a rune
	f.stop(prompt, "end_turn")
	s.End(t)
	hosttest.Equal(t, "emissions", s.All(), []string{"text abc", "thought d", "text 0123456789 and more", "text e", `tool c1 "x" think pending`, "text f", "text \ufffd"})
}

func TestHeldBackTextComesByItself(t *testing.T) {
	f, a := open(t, acp.Options{PieceDelay: 1}, nil)
	s, _ := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	for _, text := range []string{"a", "b"} {
		f.chunk(text)
		s.Await(t, func(values []host.Value) bool {
			return len(values) > 0 && values[len(values)-1] == host.Text{Text: text}
		})
	}
	f.stop(prompt, "end_turn")
	s.End(t)
}

func TestAnswersBecomeEnds(t *testing.T) {
	f, a := open(t, whole, nil)
	for _, tt := range []struct {
		answer  string
		outcome host.Outcome
		code    string
	}{
		{`"result":{"stopReason":"end_turn"}`, host.Success, ""},
		{`"result":{"stopReason":"cancelled"}`, host.Cancelled, ""},
		{`"result":{"stopReason":"max_tokens"}`, host.Failure, "max_tokens"},
		{`"result":{"stopReason":"max_turn_requests"}`, host.Failure, "max_turn_requests"},
		{`"result":{"stopReason":"refusal"}`, host.Failure, "refused"},
		{`"result":{"stopReason":"enlightenment"}`, host.Failure, "protocol"},
		{`"result":{}`, host.Failure, "protocol"},
		{`"result":null`, host.Failure, "protocol"},
		{`"result":[1]`, host.Failure, "protocol"},
		{`"result":{"stopReason":7}`, host.Failure, "protocol"},
		{`"error":null,"result":{"stopReason":"end_turn"}`, host.Success, ""},
		{`"error":{"code":-32603,"message":"x"}`, host.Failure, "agent_error"},
		{`"error":{"code":429,"message":"x"}`, host.Failure, "agent_error"},
		{`"error":"so bad"`, host.Failure, "agent_error"},
		{`"error":{"code":-32602}`, host.Failure, "rejected"},
		{`"error":{"code":-32000}`, host.Failure, "auth_required"},
	} {
		s, answer := submit(context.Background(), a, "go")
		prompt := f.Expect("session/prompt")
		f.chunk("a sign")
		if err := hosttest.Receive(t, "answer", answer); err != nil {
			t.Fatal(err)
		}
		f.Say(`{"jsonrpc":"2.0","id":` + string(prompt.ID) + `,` + tt.answer + `}`)
		if got := s.End(t); got.Outcome != tt.outcome || got.Code != tt.code {
			t.Errorf("%s: got %+v, want %s %q", tt.answer, got, tt.outcome, tt.code)
		}
	}
}

// TestFirstAnswer has the answer be the first sign.
func TestFirstAnswer(t *testing.T) {
	f, a := open(t, whole, nil)
	for _, tt := range []struct {
		code   int
		answer adapter.Answer
		reason error
	}{
		{-32700, adapter.Refused, adapter.ErrRefused},
		{-32600, adapter.Refused, adapter.ErrRefused},
		{-32601, adapter.Refused, adapter.ErrRefused},
		{-32602, adapter.Refused, adapter.ErrRefused},
		{-32000, adapter.Refused, adapter.ErrBlocked},
		{-32603, adapter.Taken, nil}, // the model failed
		{500, adapter.Taken, nil},
	} {
		s, answer := submit(context.Background(), a, "go")
		f.fail(f.Expect("session/prompt").ID, tt.code)
		err := hosttest.Receive(t, "answer", answer)
		if adapter.AnswerOf(err) != tt.answer || !errors.Is(err, tt.reason) {
			t.Errorf("%d: got %v, want %v", tt.code, err, tt.answer)
		}
		if tt.answer == adapter.Taken {
			s.End(t)
		} else if len(s.Ends())+len(s.Values()) > 0 {
			t.Errorf("%d: got %q and %v of a refused prompt, want nothing", tt.code, s.All(), s.Ends())
		}
	}
}
