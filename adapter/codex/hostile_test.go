package codex_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
)

// TestNoise is passed over.
func TestNoise(t *testing.T) {
	f, a := open(t, whole, nil)
	s, answer := submit(context.Background(), a, "m1")
	start := f.Expect("turn/start")
	f.say(`{"id":%s1,"result":{}}`, start.ID) // of a request that was never made
	for _, line := range []string{
		``, `junk`, `null`, `[]`, `7`, `{}`, `{"id":null}`, `{"id":"1","result":{}}`, `{"id":-1}`, `{"id":1,"result":{}}`, `{"id":18446744073709551616}`,
		`{"method":7}`, `{"method":"item/completed"}`, `{"method":"item/completed","params":[]}`, `{"method":"item/completed","params":{"threadId":7}}`,
		`{"method":"turn/completed","params":{"threadId":"t-1"}}`, `{"method":"turn/completed","params":{"threadId":"t-2","turn":{"id":"u-1","status":"completed"}}}`,
		`{"method":"turn/started","params":{"threadId":"t-1","turn":{}}}`, `{"method":"brand/new","params":{"threadId":"t-1"}}`,
		`{"method":"item/completed","params":{"threadId":"t-1","turnId":"","item":{"type":"userMessage","clientId":"docket-m1"}}}`,
		`{"method":"item/completed","params":{"threadId":"t-1","turnId":"u-1","item":{"type":"userMessage","clientId":{"a":1}}}}`,
		`{"id":"` + strings.Repeat("x", 2000) + `","method":"item/commandExecution/requestApproval"}`,
	} {
		f.say("%s", line)
	}
	f.answer(start, `{"turn":{"id":"u-1"}}`)
	f.answer(start, `{"turn":{"id":"u-3"}}`) // a second time
	f.fail(start, -32600, "no")
	f.began()
	f.store(start)
	if err := hosttest.Receive(t, "the answer", answer); err != nil {
		t.Fatal(err)
	}
	f.store(start)
	for _, item := range []string{`7`, `{"type":7}`, `{"type":"agentMessage"}`, `{"type":"commandExecution","id":""}`,
		`{"type":"reasoning","id":"r","summary":7,"content":{"a":1}}`, `{"type":"fileChange","id":"c","changes":7,"status":{}}`} {
		f.item("item/completed", item)
	}
	f.note("thread/tokenUsage/updated", `,"turnId":"u-1","tokenUsage":{"total":{"totalTokens":1},"last":{"totalTokens":-5}}`)
	f.complete("completed")
	f.complete("failed")
	f.text("late")
	if end := s.End(t); end.Outcome != host.Success {
		t.Errorf("got %+v, want success", end)
	}
	hosttest.Equal(t, "emissions", s.All(), []string{`tool c "change of 0 files" edit done`, "host.Usage {Input:0 Cached:0 Output:0 Reasoning:0 Total:0}"})
}

func TestLongLines(t *testing.T) {
	o := whole
	o.MaxLineBytes = 8 << 10
	f, a := open(t, o, nil)
	s := taken(t, f, a, "m1")
	long := strings.Repeat("x", 100<<10)
	f.text(long)
	f.text(long)
	f.say(`{"id":5,"method":"brand/new","params":{"a":%q}}`, long)
	if got := f.decision(); got != "error -32600" {
		t.Errorf("got %s, want an error", got)
	}
	f.text("short")
	f.note("turn/completed", `,"turn":{"id":"u-1","status":"completed","items":[{"text":"`+long+`"}]}`)
	if end := s.End(t); end.Code != host.CodeAgentExited {
		t.Errorf("got %+v after an end that cannot be read, want the program ended", end)
	}
	hosttest.Equal(t, "emissions", s.All(), []string{"warning update_lost a notification of codex was too long to be read", "text short"})
	hosttest.Receive(t, "the end", a.Done())
	if err := a.Err(); !strings.Contains(err.Error(), "more than") {
		t.Errorf("got %v, want that the line is too long", err)
	}
}

// TestOtherPrograms are ended before they get a message.
func TestOtherPrograms(t *testing.T) {
	for _, tt := range []struct {
		name string
		play func(f *fake)
		want error
	}{
		{"greets with an error", func(f *fake) { f.fail(f.Expect("initialize"), -32601, "no") }, codex.ErrVersion},
		{"greets otherwise", func(f *fake) { f.answer(f.Expect("initialize"), `{"protocolVersion":1}`) }, codex.ErrVersion},
		{"greets with a text", func(f *fake) { f.answer(f.Expect("initialize"), `"hello"`) }, codex.ErrVersion},
		{"has no names", func(f *fake) {
			f.begin()
			f.fail(f.Expect("thread/name/set"), -32600, "unknown variant")
		}, codex.ErrVersion},
		{"does not list", func(f *fake) {
			f.begin()
			f.answer(f.Expect("thread/name/set"), `{}`)
			f.fail(f.Expect("thread/turns/list"), -32600, "unknown variant")
		}, codex.ErrVersion},
		{"lists otherwise", func(f *fake) {
			f.begin()
			f.answer(f.Expect("thread/name/set"), `{}`)
			f.answer(f.Expect("thread/turns/list"), `{"turns":[]}`)
		}, codex.ErrVersion},
		{"makes no thread", func(f *fake) {
			f.answer(f.Expect("initialize"), hello)
			f.Expect("initialized")
			f.answer(f.Expect("thread/start"), `{"thread":{}}`)
		}, nil},
		{"wants a login", func(f *fake) {
			f.answer(f.Expect("initialize"), hello)
			f.Expect("initialized")
			f.fail(f.Expect("thread/start"), -32603, "log in first")
		}, nil},
		{"ends", func(f *fake) {
			f.Expect("initialize")
			f.Conn.Close()
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, peer := newFake(t)
			_, err := opened(t, f, peer, whole, nil, func() { tt.play(f) })
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			for m := range f.In {
				t.Errorf("got %s after it, want the connection closed", m.Method)
			}
		})
	}
}

// begin plays the beginning up to the new thread's id.
func (f *fake) begin() {
	f.answer(f.Expect("initialize"), hello)
	f.Expect("initialized")
	f.answer(f.Expect("thread/start"), madeOne)
}

// TestProgramThatDoesNotAnswer is left when the time is over.
func TestProgramThatDoesNotAnswer(t *testing.T) {
	_, peer := newFake(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := codex.Open(ctx, peer, nil, codex.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context ended", err)
	}
}

// TestPlantedSecrets puts secrets wherever codex puts what tools get and give.
func TestPlantedSecrets(t *testing.T) {
	f, a := open(t, whole, nil)
	s := taken(t, f, a, "m1")
	f.ask("1", "commandExecution")
	f.ask("2", "fileChange")
	f.ask("3", "permissions")
	for _, item := range []string{
		`{"type":"commandExecution","id":"1","command":"/bin/bash -lc 'PLANTED=1 curl -H PLANTED'","cwd":"/PLANTED","commandActions":[{"type":"unknown","command":"curl -H PLANTED"}],"aggregatedOutput":"PLANTED","status":"completed"}`,
		`{"type":"commandExecution","id":"2","command":"PLANTED=4 make","commandActions":[{"type":"read","command":"cat /PLANTED","name":"PLANTED","path":"/PLANTED"}],"status":"failed"}`,
		`{"type":"fileChange","id":"3","changes":[{"path":"/PLANTED","diff":"PLANTED","kind":{"type":"add"}}],"status":"completed"}`,
		`{"type":"mcpToolCall","id":"4","server":"PLANTED=1","tool":"search for PLANTED","arguments":{"PLANTED":"PLANTED"},"result":{"content":["PLANTED"]},"error":{"message":"PLANTED"},"status":"failed"}`,
		`{"type":"dynamicToolCall","id":"5","tool":"https://PLANTED/","arguments":"PLANTED","contentItems":["PLANTED"]}`,
		`{"type":"webSearch","id":"6","query":"PLANTED","action":{"query":"PLANTED"}}`,
		`{"type":"imageView","id":"7","path":"/PLANTED.png"}`,
		`{"type":"collabAgentToolCall","id":"8","tool":"spawnAgent","prompt":"PLANTED"}`,
		`{"type":"functionCallOutput","id":"9","name":"PLANTED","output":"PLANTED"}`,
		`{"type":"hookPrompt","id":"10","fragments":["PLANTED"]}`,
		`{"type":"enteredReviewMode","id":"11","review":"PLANTED"}`,
	} {
		f.item("item/started", item)
		f.item("item/completed", item)
	}
	f.note("item/commandExecution/outputDelta", `,"turnId":"u-1","itemId":"1","delta":"PLANTED"`)
	f.note("turn/diff/updated", `,"turnId":"u-1","diff":"PLANTED"`)
	f.note("rawResponseItem/completed", `,"turnId":"u-1","item":{"type":"agentMessage","text":"PLANTED"}`)
	f.note("warning", `,"message":"PLANTED"`)
	f.note("error", `,"turnId":"u-1","willRetry":true,"error":{"message":"retry http://h/PLANTED?k=PLANTED","additionalDetails":"PLANTED"}`)
	f.note("turn/completed", `,"turn":{"id":"u-1","status":"failed","error":{"message":"Incorrect API key provided: sk-PLANTED27xyzzy at https://h/PLANTED (token PLANTED-30)\nPLANTED","additionalDetails":"PLANTED","codexErrorInfo":{"PLANTED":{}}}}`)
	end := s.End(t)
	kept := strings.Join(s.All(), "\n") + fmt.Sprintf("\n%+v %+v", end, s.Natives())
	if strings.Contains(kept, "PLANTED") {
		t.Errorf("got a planted secret in\n%s", kept)
	}
	for _, want := range []string{`tool 1 "curl" execute done`, `tool 8 "spawnAgent" other done`, `permission "curl" asked`, "Incorrect API key provided"} {
		if !strings.Contains(kept, want) {
			t.Errorf("got\n%s\nwant %q in it", kept, want)
		}
	}
}
