package fakemodel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/adaptertest/fakemodel"
)

const patience = time.Minute

// A form is one way to ask the same.
type form struct {
	name, path string
	ask        func(text string) string // with context before it and a tool named shell
	result     string                   // the same turn, going on with a tool's result
	end        string                   // what closes a whole stream
	calls      string                   // what a call of the tool contains
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

func forms(stream bool) []form {
	streams := "false"
	geminiPath := "/v1beta/models/m1:generateContent"
	if stream {
		streams, geminiPath = "true", "/v1beta/models/m1:streamGenerateContent"
	}
	return []form{
		{"chat", "/v1/chat/completions", func(text string) string {
			return `{"model":"m1","stream":` + streams + `,"messages":[{"role":"system","content":"be good"},{"role":"user","content":"before"},
				{"role":"user","content":[{"type":"text","text":"context"},{"type":"text","text":` + quoted(text) + `}]}],
				"tools":[{"type":"function","function":{"name":"shell"}}]}`
		}, `{"messages":[{"role":"user","content":"x [[tool shell {}]]"},{"role":"tool","content":"done"}],"tools":[{"function":{"name":"shell"}}]}`,
			"data: [DONE]\n\n", `"arguments":"{\"a\":[1]}"`},
		{"responses", "/v1/responses", func(text string) string {
			return `{"model":"m1","stream":` + streams + `,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"before"}]},
				{"type":"message","role":"user","content":[{"type":"input_text","text":"context"},{"type":"input_text","text":` + quoted(text) + `}]}],
				"tools":[{"type":"function","name":"shell"}]}`
		}, `{"input":[{"role":"user","content":"x [[tool shell {}]]"},{"type":"function_call_output","output":"done"}],"tools":[{"name":"shell"}]}`,
			`"status":"completed"`, `"arguments":"{\"a\":[1]}"`},
		{"gemini", geminiPath, func(text string) string {
			return `{"contents":[{"role":"user","parts":[{"text":"before"}]},{"role":"user","parts":[{"text":"context"},{"text":` + quoted(text) + `}]}],
				"tools":[{"functionDeclarations":[{"name":"shell"}]}]}`
		}, `{"contents":[{"role":"user","parts":[{"text":"x [[tool shell {}]]"}]},{"role":"user","parts":[{"functionResponse":{"name":"shell"}}]}],
			"tools":[{"functionDeclarations":[{"name":"shell"}]}]}`,
			`"finishReason":"STOP"`, `"args":{"a":[1]}`},
	}
}

func start(t *testing.T, o fakemodel.Options) *fakemodel.Server {
	t.Helper()
	s, err := fakemodel.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// post returns the status and everything that came until the end, and whether
// that was a clean one.
func post(t *testing.T, s *fakemodel.Server, path, body string) (status int, got string, whole bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(b), err == nil
}

func TestAnswersTheLastUserText(t *testing.T) {
	text := "a \"text\"\nof <two> lines \U0001F600"
	for _, stream := range []bool{false, true} {
		for _, f := range forms(stream) {
			var log bytes.Buffer
			s := start(t, fakemodel.Options{Log: &log})
			status, got, whole := post(t, s, f.path, f.ask(text))
			encoded := strings.Trim(quoted("ACK "+text), `"`)
			if status != http.StatusOK || !whole || !strings.Contains(got, encoded) || strings.Contains(got, "data: ") != stream {
				t.Errorf("%s, stream %v: got %d %q, want it to hold %s", f.name, stream, status, got, encoded)
			}
			all := s.Requests()
			if len(all) != 1 {
				t.Fatalf("%s: got %d requests, want 1", f.name, len(all))
			}
			r := all[0]
			if r.Seq != 1 || r.API != f.name || r.Model != "m1" || r.Stream != stream || r.Text != text || !r.Begins() ||
				!slices.Equal(r.Users, []string{"before", text}) || !slices.Equal(r.Tools, []string{"shell"}) {
				t.Errorf("%s, stream %v: got request %+v", f.name, stream, r)
			}
			var logged fakemodel.Request
			if err := json.Unmarshal(log.Bytes(), &logged); err != nil || logged.Text != text || bytes.Count(log.Bytes(), []byte("\n")) != 1 {
				t.Errorf("%s: got log %q, %v, want one line with the text", f.name, log.String(), err)
			}
		}
	}
}

func TestStreamsEnd(t *testing.T) {
	for _, f := range forms(true) {
		s := start(t, fakemodel.Options{})
		if _, got, whole := post(t, s, f.path, f.ask("go")); !whole || !strings.Contains(got, f.end) {
			t.Errorf("%s: got %q, want it closed with %s", f.name, got, f.end)
		}
		_, got, whole := post(t, s, f.path, f.ask("go [[cut]]"))
		if whole || got == "" || strings.Contains(got, f.end) {
			t.Errorf("%s, cut: got %q, clean %v, want a beginning only", f.name, got, whole)
		}
	}
}

func TestCallsATool(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for _, f := range forms(stream) {
			s := start(t, fakemodel.Options{})
			if _, got, _ := post(t, s, f.path, f.ask(`x [[tool shell {"a":[1]}]]`)); !strings.Contains(got, f.calls) || strings.Contains(got, "ACK") {
				t.Errorf("%s, stream %v: got %q, want the call %s", f.name, stream, got, f.calls)
			}
			if _, got, _ := post(t, s, f.path, f.ask(`x [[tool other {"a":[1]}]]`)); !strings.Contains(got, "ACK x") {
				t.Errorf("%s: got %q, want ACK: that tool is not offered", f.name, got)
			}
			if _, got, _ := post(t, s, f.path, f.result); !strings.Contains(got, "ACK x") {
				t.Errorf("%s: got %q, want ACK after the result", f.name, got)
			}
			if got := s.Turns(); len(got) != 2 {
				t.Errorf("%s: got turns %q, want two: a result goes on with its turn", f.name, got)
			}
		}
	}
}

func TestStatusIsTheAnswer(t *testing.T) {
	for _, f := range forms(true) {
		s := start(t, fakemodel.Options{})
		if status, got, _ := post(t, s, f.path, f.ask("x [[status 503]]")); status != 503 || !strings.Contains(got, "stub_error") {
			t.Errorf("%s: got %d %q, want 503", f.name, status, got)
		}
		if got := s.Turns(); !slices.Equal(got, []string{"x [[status 503]]"}) {
			t.Errorf("%s: got %q, want the request on record", f.name, got)
		}
	}
}

// TestNotedBeforeTheAnswer asks for answers that wait, and sees them in the list.
func TestNotedBeforeTheAnswer(t *testing.T) {
	s := start(t, fakemodel.Options{})
	var wg sync.WaitGroup
	for _, f := range forms(true) {
		wg.Go(func() {
			if _, got, whole := post(t, s, f.path, f.ask("x [[wait green]]")); !whole || !strings.Contains(got, f.end) {
				t.Errorf("%s: got %q, want a whole answer", f.name, got)
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := s.Await(ctx, func(all []fakemodel.Request) bool { return len(all) == 3 }); err != nil {
		t.Error(err)
	}
	post(t, s, "/release/green", "")
	wg.Wait()
	s.Release("green") // once more does no harm
	if n := len(s.Requests()); n != 3 {
		t.Errorf("got %d requests, want 3", n)
	}
}

func TestSlowAndSleep(t *testing.T) {
	for _, f := range forms(true) {
		s := start(t, fakemodel.Options{})
		_, quick, _ := post(t, s, f.path, f.ask("[[sleep 1ms]] x"))
		_, slow, whole := post(t, s, f.path, f.ask("[[slow 300ms]] x"))
		if a, b := strings.Count(quick, "data: "), strings.Count(slow, "data: "); !whole || b != a+3 {
			t.Errorf("%s: got %d events, then %d, want three more", f.name, a, b)
		}
	}
}

func TestHelpersAreToldApart(t *testing.T) {
	s := start(t, fakemodel.Options{})
	post(t, s, "/v1/chat/completions", `{"messages":[{"role":"user","content":"make a title"}]}`)
	post(t, s, "/v1/responses", `{"input":"one text"}`)
	if all := s.Requests(); len(all) != 2 || !all[0].Helper() || all[1].Text != "one text" || len(s.Turns()) != 0 {
		t.Errorf("got %+v, want two helpers", all)
	}
}

func TestWhatIsNotUnderstood(t *testing.T) {
	s := start(t, fakemodel.Options{})
	for path, want := range map[string]int{"/v1/chat/completions": 200, "/nowhere": 404, "/v1/models": 200} {
		if status, _, _ := post(t, s, path, "\x00 no JSON"); status != want {
			t.Errorf("%s: got %d, want %d", path, status, want)
		}
	}
	post(t, s, "/v1beta/models/m1:countTokens", "")
	if n := len(s.Requests()); n != 3 {
		t.Errorf("got %d requests, want 3: to count tokens is none", n)
	}
}

func TestLongTextsAreNotEchoed(t *testing.T) {
	s := start(t, fakemodel.Options{})
	f := forms(true)[0]
	long := strings.Repeat("x", 1<<20)
	if _, got, _ := post(t, s, f.path, f.ask(long)); len(got) > 10_000 || !strings.Contains(got, "ACK 1048576 bytes, SHA-256 ") {
		t.Errorf("got %d bytes, want the length and the digest", len(got))
	}
	if got := s.Turns(); !slices.Equal(got, []string{long}) {
		t.Error("got another text on record, want the whole one")
	}
}

func TestLoopbackOnly(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.168.1.1:0", "localhost", "example.com:80"} {
		if s, err := fakemodel.Start(fakemodel.Options{Addr: addr}); err == nil {
			_ = s.Close()
			t.Errorf("%s: got a server, want it refused", addr)
		}
	}
}
