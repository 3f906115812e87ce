package codex_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
)

func TestValues(t *testing.T) {
	f, a := open(t, whole, nil)
	s := taken(t, f, a, "m1")
	for _, n := range []struct{ method, fields string }{
		{"item/reasoning/summaryTextDelta", `"itemId":"r","delta":"let me"`},
		{"item/completed", `"item":{"type":"reasoning","id":"r","summary":["let me"],"content":[]}`},
		{"item/completed", `"item":{"type":"reasoning","id":"r2","summary":["a"],"content":["b"]}`},
		{"turn/plan/updated", `"plan":[{"step":"one","status":"completed"},{"step":"two","status":"inProgress"},{"step":"three","status":"pending"}]`},
		{"item/agentMessage/delta", `"itemId":"a","delta":"hel"`},
		{"item/completed", `"item":{"type":"agentMessage","id":"a","text":"hello"}`},
		{"item/started", `"item":{"type":"commandExecution","id":"c1","command":"/bin/bash -lc 'git status'","commandActions":[{"type":"unknown","command":"git status"}],"status":"inProgress"}`},
		{"item/completed", `"item":{"type":"commandExecution","id":"c1","command":"/bin/bash -lc 'git status'","commandActions":[{"command":"git status"}],"status":"completed","aggregatedOutput":"x"}`},
		{"item/completed", `"item":{"type":"commandExecution","id":"c2","command":"A=b make","status":"declined"}`},
		{"item/completed", `"item":{"type":"fileChange","id":"c3","changes":[{"path":"/x"},{"path":"/y"}],"status":"failed"}`},
		{"item/started", `"item":{"type":"mcpToolCall","id":"c4","server":"tickets","tool":"search","arguments":{"a":1},"status":"inProgress"}`},
		{"item/completed", `"item":{"type":"webSearch","id":"c5","query":"x","action":{"a":1}}`},
		{"item/completed", `"item":{"type":"dynamicToolCall","id":"c6","tool":{"a":1}}`},
		{"item/completed", `"item":{"type":"imageView","id":"c7","path":"/x"}`},
		{"item/completed", `"item":{"type":"somethingNew","id":"c8"}`},
		{"thread/tokenUsage/updated", `"tokenUsage":{"total":{"totalTokens":116,"inputTokens":61,"outputTokens":55},"last":{"totalTokens":16,"inputTokens":11,"outputTokens":5},"modelContextWindow":1000}`},
		{"thread/tokenUsage/updated", `"tokenUsage":{"total":{"totalTokens":136,"inputTokens":71,"outputTokens":65,"cachedInputTokens":3,"reasoningOutputTokens":2},"last":{"totalTokens":20}}`},
		{"error", `"willRetry":true,"error":{"message":"Reconnecting... 1/5"}`},
		{"error", `"willRetry":false,"error":{"message":"final"}`},
	} {
		f.note(n.method, `,"turnId":"u-1",`+n.fields)
		f.note(n.method, `,"turnId":"u-2",`+n.fields) // of another turn
	}
	f.complete("completed")
	s.End(t)
	hosttest.Equal(t, "emissions", s.All(), []string{
		"thought let me", "thought a\n\nb", "thought [x] one\n[~] two\n[ ] three\n", "text hel", "text lo",
		`tool c1 "git" execute running`, `tool c1 "git" execute done`, `tool c2 "command" execute failed`,
		`tool c3 "change of 2 files" edit failed`, `tool c4 "tickets search" other running`, `tool c5 "web search" search done`,
		`tool c6 "tool" other done`, `tool c7 "view of an image" read done`,
		"host.Usage {Input:11 Cached:0 Output:5 Reasoning:0 Total:16}", "host.Usage {Input:21 Cached:3 Output:15 Reasoning:2 Total:36}",
		"warning retry Reconnecting... …",
	})
	for _, n := range s.Natives() {
		if n.Provider != "codex" || n.Session != "t-1" || n.Turn != "u-1" {
			t.Errorf("got the native %+v, want codex, its thread and its turn", n)
		}
	}
}

func TestEnds(t *testing.T) {
	for _, tt := range []struct {
		turn    string
		outcome host.Outcome
		code    string
	}{
		{`"status":"completed"`, host.Success, ""},
		{`"status":"interrupted"`, host.Cancelled, ""},
		{`"status":"failed"`, host.Failure, codex.CodeAgentError},
		{`"status":"failed","error":{"message":"x","codexErrorInfo":"other"}`, host.Failure, codex.CodeAgentError},
		{`"status":"failed","error":{"message":"x","codexErrorInfo":"contextWindowExceeded"}`, host.Failure, codex.CodeContextFull},
		{`"status":"failed","error":{"message":"x","codexErrorInfo":"usageLimitExceeded"}`, host.Failure, codex.CodeLimit},
		{`"status":"failed","error":{"message":"x","codexErrorInfo":"cyberPolicy"}`, host.Failure, codex.CodeRefused},
		{`"status":"failed","error":{"message":"x","codexErrorInfo":"unauthorized"}`, host.Failure, codex.CodeAuthRequired},
		{`"status":"failed","error":{"message":"x","codexErrorInfo":{"httpConnectionFailed":{"httpStatusCode":401}}}`, host.Failure, codex.CodeAuthRequired},
		{`"status":"failed","error":{"message":"x","codexErrorInfo":{"responseTooManyFailedAttempts":{"httpStatusCode":429}}}`, host.Failure, codex.CodeLimit},
		{`"status":"failed","error":{"message":"x","codexErrorInfo":{"new":[7]}}`, host.Failure, codex.CodeAgentError},
		{`"status":"failed","error":"a text"`, host.Failure, codex.CodeAgentError},
		{`"status":"inProgress"`, host.Failure, codex.CodeProtocol},
		{`"status":7`, host.Failure, codex.CodeProtocol},
		{`"state":"new"`, host.Failure, codex.CodeProtocol},
	} {
		f, a := open(t, whole, nil)
		s := taken(t, f, a, "m1")
		f.note("turn/completed", `,"turn":{"id":"u-1",`+tt.turn+`}`)
		if end := s.End(t); end.Outcome != tt.outcome || end.Code != tt.code {
			t.Errorf("%s: got %+v, want %s %q", tt.turn, end, tt.outcome, tt.code)
		}
	}
}

// TestProgramThatDies ends its turn as interrupted.
func TestProgramThatDies(t *testing.T) {
	f, a := open(t, whole, nil)
	s := taken(t, f, a, "m1")
	f.text("half")
	f.Conn.Close()
	if end := s.End(t); end.Outcome != host.Interrupted || end.Code != host.CodeAgentExited {
		t.Errorf("got %+v, want interrupted, agent_exited", end)
	}
	hosttest.Receive(t, "the end", a.Done())
}

// TestPieces are joined until something else comes.
func TestPieces(t *testing.T) {
	o := whole
	o.PieceDelay, o.PieceBytes = time.Hour, 8
	f, a := open(t, o, nil)
	s := taken(t, f, a, "m1")
	for _, text := range []string{"a", "b", "0123456789", "c"} {
		f.note("item/agentMessage/delta", `,"turnId":"u-1","itemId":"a","delta":"`+text+`"`)
	}
	f.note("item/reasoning/textDelta", `,"turnId":"u-1","itemId":"r","delta":"hm"`)
	f.complete("completed")
	s.End(t)
	hosttest.Equal(t, "emissions", s.All(), []string{"text ab0123456789", "text c", "thought hm"})
	o.PieceDelay = time.Millisecond
	f, a = open(t, o, nil)
	s = taken(t, f, a, "m1")
	f.note("item/agentMessage/delta", `,"turnId":"u-1","itemId":"a","delta":"x"`)
	s.Await(t, func(values []host.Value) bool { return len(values) == 1 })
}

// TestFacts are published as they become known.
func TestFacts(t *testing.T) {
	var mu sync.Mutex
	facts := map[string]string{}
	seat := &host.Seat{OnState: func(s host.State) {
		mu.Lock()
		defer mu.Unlock()
		facts[s.Name] = s.Value
	}}
	f, a := open(t, whole, seat)
	s := taken(t, f, a, "m1")
	f.note("model/rerouted", `,"turnId":"u-1","toModel":"other"`)
	f.note("thread/tokenUsage/updated", `,"turnId":"u-1","tokenUsage":{"last":{"totalTokens":16},"modelContextWindow":1000}`)
	f.complete("completed")
	s.End(t)
	mu.Lock()
	defer mu.Unlock()
	for name, want := range map[string]string{
		codex.StateSession: "t-1", codex.StateModel: "other", codex.StateContext: "16/1000", codex.StateAgent: "codex 0.171.0",
	} {
		if facts[name] != want {
			t.Errorf("%s: got %q, want %q", name, facts[name], want)
		}
	}
}

func TestTitles(t *testing.T) {
	for command, want := range map[string]string{
		"git status": "git", "/usr/bin/git x": "git", "A='x' make": "command", "$(cat key)": "command", "": "command",
		"'my tool' x": "command", strings.Repeat("x", 100): "command", "  ls\n-l": "ls",
	} {
		if got := codex.CommandTitle(command); got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}
