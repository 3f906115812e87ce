package httpread_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/httpread"
)

const asJSON = "Content-Type: application/json"

func TestASendIsHandedOnAsItWasSaid(t *testing.T) {
	var got httpread.Message
	f := begin(t, func(o *httpread.Options) {
		send := o.Send
		o.Send = func(ctx context.Context, m httpread.Message) (httpread.Accepted, error) {
			got = m
			return send(ctx, m)
		}
	})
	s := f.make("a")
	var a struct {
		Session, MID, Cursor string
		Replayed, Delivered  bool
	}
	text := "<b>hello</b> \u202e 🙂\n"
	body := fmt.Sprintf(`{"text":%q,"replyVia":"note"}`, text)
	first := f.ask(http.MethodPost, "/api/sessions/a/input", body, asJSON+"; charset=UTF-8", "Idempotency-Key: k 1")
	if first.into(t, &a); first.StatusCode != http.StatusAccepted {
		t.Errorf("got %s, want 202", first.Status)
	}
	want := httpread.Message{Session: "a", Text: text, ReplyVia: timeline.Note, Operation: httpread.InputOperation, Key: "k 1"}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if end, err := s.Timeline().End(t.Context()); err != nil || a.Cursor != end.String() || a.Session != "a" || a.MID == "" || a.Replayed {
		t.Errorf("got %+v, %v", a, err)
	}
	mid := a.MID
	f.ask(http.MethodPost, "/api/sessions/a/input", body, asJSON, "Idempotency-Key: k 1").into(t, &a)
	if a.MID != mid || !a.Replayed {
		t.Errorf("again: got %+v, want a replay of %s", a, mid)
	}
	f.ask(http.MethodPost, "/api/sessions/a/input", body, asJSON).into(t, &a)
	if a.MID == mid || a.Replayed || got.Key != "" || got.Operation != "" {
		t.Errorf("without a key: got %+v %+v", a, got)
	}
}

func TestSendsAreRefused(t *testing.T) {
	f := begin(t, func(o *httpread.Options) { o.MaxInputBytes = 1000 })
	f.make("a")
	for _, tt := range []struct {
		name, id, body, headers string
		status                  int
		code                    string
	}{
		{"no content type", "a", `{"text":"x"}`, "", 415, "bad-content-type"},
		{"a form", "a", `{"text":"x"}`, "Content-Type: text/plain", 415, "bad-content-type"},
		{"another charset", "a", `{"text":"x"}`, "Content-Type: application/json; charset=latin1", 415, "bad-content-type"},
		{"huge", "a", `{"text":"` + strings.Repeat("x", 2000) + `"}`, asJSON, 413, "text-too-large"},
		{"empty", "a", ``, asJSON, 400, "bad-body"},
		{"null", "a", `null`, asJSON, 400, "bad-body"},
		{"cut off", "a", `{"text":"x"`, asJSON, 400, "bad-body"},
		{"something behind", "a", `{"text":"x"} {}`, asJSON, 400, "bad-body"},
		{"a list", "a", `[]`, asJSON, 400, "bad-body"},
		{"two texts", "a", `{"text":"x","text":"y"}`, asJSON, 400, "bad-body"},
		{"a text in capitals", "a", `{"TEXT":"x"}`, asJSON, 400, "bad-body"},
		{"packed", "a", `{"text":"x"}`, asJSON + "|Content-Encoding: gzip", 415, "bad-content-encoding"},
		{"no text", "a", `{"replyVia":"note"}`, asJSON, 400, "bad-body"},
		{"a text that is none", "a", `{"text":["x"]}`, asJSON, 400, "bad-body"},
		{"a sender", "a", `{"text":"x","from":"b"}`, asJSON, 400, "bad-body"}, // who sends here is a human
		{"bad UTF-8", "a", "{\"text\":\"\xff\"}", asJSON, 400, "bad-body"},
		{"blank", "a", `{"text":" \n"}`, asJSON, 422, "empty-text"},
		{"NUL", "a", `{"text":"a\u0000"}`, asJSON, 422, "bad-text"},
		{"half a character", "a", `{"text":"a\ud83d"}`, asJSON, 422, "bad-text"},
		{"the other half", "a", `{"text":"\ude42a"}`, asJSON, 422, "bad-text"},
		{"two first halves", "a", `{"text":"\ud83d\ud83d\ude42"}`, asJSON, 422, "bad-text"},
		{"something between the halves", "a", `{"text":"\ud83dx\ude42"}`, asJSON, 422, "bad-text"},
		{"an escape between the halves", "a", `{"text":"\ud83d\n\ude42"}`, asJSON, 422, "bad-text"},
		{"a channel that is none", "a", `{"text":"x","replyVia":"mail"}`, asJSON, 422, "bad-reply-via"},
		{"an empty key", "a", `{"text":"x"}`, asJSON + "|Idempotency-Key: ", 400, "bad-key"},
		{"two keys", "a", `{"text":"x"}`, asJSON + "|Idempotency-Key: a|Idempotency-Key: b", 400, "bad-key"},
		{"a long key", "a", `{"text":"x"}`, asJSON + "|Idempotency-Key: " + strings.Repeat("k", 201), 400, "bad-key"},
		{"a key that is not ASCII", "a", `{"text":"x"}`, asJSON + "|Idempotency-Key: ä", 400, "bad-key"},
		{"a bad id", "-a", `{"text":"x"}`, asJSON, 400, "bad-id"},
		{"no such session", "b", `{"text":"x"}`, asJSON, 404, "no-session"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var headers []string
			if tt.headers != "" {
				headers = strings.Split(tt.headers, "|")
			}
			f.ask(http.MethodPost, "/api/sessions/"+tt.id+"/input", tt.body, headers...).refused(t, tt.status, tt.code)
		})
	}
	if p := f.page("/api/sessions/a/timeline"); len(p.Events) != 0 {
		t.Errorf("a refused send left %+v", p)
	}
}

// The receiver's own refusals come through in their words.
func TestRefusalsOfTheReceiver(t *testing.T) {
	f := begin(t)
	f.make("a")
	f.fail = &httpread.RefusalError{Status: 409, Code: "key-reused", Say: "the key was used for another message: take another"}
	f.ask(http.MethodPost, "/api/sessions/a/input", `{"text":"x"}`, asJSON).refused(t, 409, "key-reused")
	f.fail = fmt.Errorf("send: %w", timeline.ErrTooLarge)
	f.ask(http.MethodPost, "/api/sessions/a/input", `{"text":"x"}`, asJSON).refused(t, 413, "text-too-large")
}

// What is escaped arrives as what it stands for, byte for byte.
func TestEscapedTextIsWhole(t *testing.T) {
	f := begin(t)
	f.make("a")
	for i, tt := range []struct{ body, text string }{
		{`{"text":"\ud83d\ude42 \u00e4\n\\ud83d \\\ud83d\ude42"}`, "🙂 ä\n\\ud83d \\🙂"},
		{`{"replyVia":null,"text":"\"\/\u202e"}`, "\"/\u202e"},
		{" {\t\"text\" : \"\\u0041\"}\n", "A"},
	} {
		if a := f.ask(http.MethodPost, "/api/sessions/a/input", tt.body, asJSON); a.StatusCode != http.StatusAccepted {
			t.Errorf("%s: got %s %s", tt.body, a.Status, a.body)
			continue
		}
		if p := f.page("/api/sessions/a/timeline"); len(p.Events) <= i || p.Events[i].Text != tt.text {
			t.Errorf("%s: got %+v, want %q", tt.body, p.Events, tt.text)
		}
	}
}

// Whatever the body is, it is refused or is said as a JSON decoder reads it.
func FuzzSaid(f *testing.F) {
	for _, seed := range []string{`{"text":"x"}`, `{"text":"\ud83d\ude42"}`, `{"text":"\\u"}`, `{"text":"\u12"}`, `{"text":"x","replyVia":"note"}`, `{"\u0074ext":"\\"}`, `{`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := httpread.Said(b)
		if err != nil {
			return
		}
		var read struct{ Text string }
		if err := json.Unmarshal(b, &read); err != nil || read.Text != text {
			t.Errorf("%q: got %q, want %q, %v", b, text, read.Text, err)
		}
	})
}
