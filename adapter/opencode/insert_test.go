package opencode_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/opencode"
)

// TestWhatIsSent reads a request as the server gets it.
func TestWhatIsSent(t *testing.T) {
	s := startServer(t)
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("p w:\u00e9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := open(t, t.TempDir(), opencode.Options{
		URL: s.http.URL + "/", Directory: "/a b/c", Agent: "build", Model: "p/a/b", Username: "me", PasswordFile: secret,
	})
	text := "<a> & \"b\"\u2028"
	if err := a.Insert(t.Context(), adapter.Prompt{MID: "m1", Session: "s1", From: "peer", Text: text, Attributes: map[string]string{"k": "v"}}); err != nil {
		t.Fatal(err)
	}
	id := opencode.IDOf("ses_1", "m1")
	want := `{"messageID":"msg_` + id + `","agent":"build","model":{"providerID":"p","modelID":"a/b"},"parts":[{"id":"prt_` + id +
		`","type":"text","text":"<a> & \"b\"\u2028","metadata":{"docket":{"mid":"m1","session":"s1","from":"peer","attributes":{"k":"v"}}}}]}`
	if got := strings.TrimSpace(s.bodies[0]); got != want || !json.Valid([]byte(got)) {
		t.Errorf("got body\n%s, want\n%s", got, want)
	}
	for i := range s.users {
		if s.users[i] != "me:p w:\u00e9" || s.dirs[i] != "/a b/c" {
			t.Errorf("request %d: got %q in %q, want me with the password in /a b/c", i, s.users[i], s.dirs[i])
		}
	}
}

func TestPasswordOfTheEnvironment(t *testing.T) {
	t.Setenv("OPENCODE_SERVER_PASSWORD", "of the environment")
	s := startServer(t)
	if err := open(t, t.TempDir(), opencode.Options{URL: s.http.URL}).Insert(t.Context(), prompt("m1", "x")); err != nil {
		t.Fatal(err)
	}
	if s.users[0] != "opencode:of the environment" {
		t.Errorf("got %q, want opencode with that password", s.users[0])
	}
}

// TestRepeatedIsThereOnce hands over what is there, and what is there below a newer one.
func TestRepeatedIsThereOnce(t *testing.T) {
	s := startServer(t)
	dir := t.TempDir()
	a := open(t, dir, opencode.Options{URL: s.http.URL})
	for _, mid := range []string{"m1", "m1", "m2", "m1", "m2"} {
		if err := a.Insert(t.Context(), prompt(mid, "text of "+mid)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.received(); err != nil || len(got) != 2 || s.posts != 2 {
		t.Errorf("got %v, %v by %d requests, want two by two", got, err, s.posts)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "opencode", "begun-*")); err != nil || len(left) != 0 {
		t.Errorf("got marks %q, %v, want none left", left, err)
	}
	s.change(func(s *server) { s.busy = map[string]string{"type": "busy"} })
	if err := a.Insert(t.Context(), prompt("m1", "text of m1")); err != nil {
		t.Errorf("while it is busy: got %v, want taken: it is there", err)
	}
}

// TestSessionIsMadeOnce races adapters of one directory for the first message.
func TestSessionIsMadeOnce(t *testing.T) {
	s := startServer(t)
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 8 {
		a := open(t, dir, opencode.Options{URL: s.http.URL})
		wg.Go(func() {
			if err := a.Insert(t.Context(), prompt(string(rune('a'+i)), "x")); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	wg.Wait()
	for _, m := range s.messages[1:] {
		if m.Info.SessionID != s.messages[0].Info.SessionID {
			t.Errorf("got messages in %s and %s, want one session", m.Info.SessionID, s.messages[0].Info.SessionID)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "opencode", ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("got %q, %v, want nothing left beside the session", left, err)
	}
}

func TestAnswers(t *testing.T) {
	for _, tt := range []struct {
		name    string
		server  func(s *server)
		options opencode.Options
		answer  adapter.Answer
		reason  error
		says    string
		stored  int
	}{
		{"slow to show", func(s *server) { s.hidden = 5 }, opencode.Options{}, adapter.Taken, nil, "", 1},
		{"never shown", func(s *server) { s.hidden = 1 << 30 }, opencode.Options{Timeout: time.Second}, adapter.Unconfirmed, nil, "opencode's log", 1},
		{"connection lost, but shown", func(s *server) { s.drop = true }, opencode.Options{}, adapter.Taken, nil, "", 1},
		{"connection lost, not shown", func(s *server) { s.drop, s.hidden = true, 1<<30 }, opencode.Options{}, adapter.Unconfirmed, nil, "EOF", 1},
		{"fault, but shown", func(s *server) { s.posted = 500 }, opencode.Options{}, adapter.Taken, nil, "", 1},
		{"fault, not shown", func(s *server) { s.posted, s.hidden = 500, 1<<30 }, opencode.Options{}, adapter.Unconfirmed, nil, "as told", 1},
		{"declined", func(s *server) { s.posted, s.hidden = 400, 1<<30 }, opencode.Options{}, adapter.Refused, nil, "400", 1},
		{"password", func(s *server) { s.status = 401 }, opencode.Options{}, adapter.Refused, adapter.ErrBlocked, "password-file", 0},
		{"server fault before", func(s *server) { s.status = 502 }, opencode.Options{}, adapter.Refused, nil, "502", 0},
		{"no such session", func(*server) {}, opencode.Options{Session: "ses_none"}, adapter.Refused, adapter.ErrGone, "Session not found", 0},
		{"busy", func(s *server) { s.busy = map[string]string{"type": "busy"} }, opencode.Options{}, adapter.Refused, adapter.ErrBusy, "at work", 0},
		{"model fails", func(s *server) { s.busy = map[string]string{"type": "retry", "message": "no credit\nleft"} }, opencode.Options{}, adapter.Refused, adapter.ErrBusy, "no credit left", 0},
		{"permission", func(s *server) { s.busy, s.asking = map[string]string{"type": "busy"}, "permission" }, opencode.Options{}, adapter.Refused, adapter.ErrBlocked, "asks a permission", 0},
		{"question", func(s *server) { s.busy, s.asking = map[string]string{"type": "busy"}, "question" }, opencode.Options{}, adapter.Refused, adapter.ErrBlocked, "asks a question", 0},
		{"busy, may join", func(s *server) { s.busy = map[string]string{"type": "busy"} }, opencode.Options{Join: true}, adapter.Taken, nil, "", 1},
		{"said to be idle", func(s *server) { s.busy = map[string]string{"type": "idle"} }, opencode.Options{}, adapter.Taken, nil, "", 1},
		{"unknown agent", func(*server) {}, opencode.Options{Agent: "biuld"}, adapter.Refused, adapter.ErrBlocked, "set one of build", 0},
		{"unknown model", func(*server) {}, opencode.Options{Model: "p/x"}, adapter.Refused, adapter.ErrBlocked, "set one of p/a/b", 0},
		{"no password file", func(*server) {}, opencode.Options{PasswordFile: "/nowhere/at all"}, adapter.Refused, nil, "/nowhere/at all", 0},
	} {
		s := startServer(t)
		s.change(tt.server)
		tt.options.URL = s.http.URL
		err := open(t, t.TempDir(), tt.options).Insert(t.Context(), prompt("m1", "x"))
		checkAnswer(t, tt.name, err, tt.answer, tt.reason, tt.says)
		if s.posts != tt.stored {
			t.Errorf("%s: got %d messages stored, want %d", tt.name, s.posts, tt.stored)
		}
	}
}

func checkAnswer(t *testing.T, name string, err error, answer adapter.Answer, reason error, says string) {
	t.Helper()
	if got := adapter.AnswerOf(err); got != answer || reason != nil && !errors.Is(err, reason) {
		t.Errorf("%s: got %s, %v, want %s because of %v", name, got, err, answer, reason)
	}
	if err != nil && (!strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), "opencode: ") || strings.Contains(err.Error(), "\n")) {
		t.Errorf("%s: got %q, want one line that says %q", name, err, says)
	}
}

func TestNobodyThere(t *testing.T) {
	s := startServer(t)
	dir := t.TempDir()
	a := open(t, dir, opencode.Options{URL: s.http.URL})
	if err := a.Insert(t.Context(), prompt("m1", "x")); err != nil {
		t.Fatal(err)
	}
	s.http.Close()
	checkAnswer(t, "insert", a.Insert(t.Context(), prompt("m2", "x")), adapter.Refused, adapter.ErrGone, "start opencode serve")
	if state, err := a.Probe(t.Context()); state != adapter.Gone || err == nil {
		t.Errorf("Probe: got %s, %v, want gone", state, err)
	}
	if p, err := a.Lookup(t.Context(), "m1"); p != adapter.CannotTell || err == nil {
		t.Errorf("Lookup: got %s, %v, want cannot tell", p, err)
	}
	if err := a.Interrupt(t.Context()); err == nil {
		t.Error("Interrupt: got nil, want an error")
	}
	fresh := open(t, t.TempDir(), opencode.Options{URL: s.http.URL})
	checkAnswer(t, "first insert", fresh.Insert(t.Context(), prompt("m1", "x")), adapter.Refused, adapter.ErrGone, "start opencode serve")
	if p, err := fresh.Lookup(t.Context(), "m1"); p != adapter.Absent || err != nil {
		t.Errorf("Lookup without a session: got %s, %v, want absent", p, err)
	}
}

// TestSentBeforeIsNeverRefused sends a message whose fate stays unknown, and then tries
// to hand it over again where a new message would be refused.
func TestSentBeforeIsNeverRefused(t *testing.T) {
	s := startServer(t)
	a := open(t, t.TempDir(), opencode.Options{URL: s.http.URL})
	s.change(func(s *server) { s.drop, s.hidden = true, 1<<30 })
	checkAnswer(t, "first", a.Insert(t.Context(), prompt("m1", "x")), adapter.Unconfirmed, nil, "EOF")
	s.change(func(s *server) { s.busy = map[string]string{"type": "busy"} })
	checkAnswer(t, "busy", a.Insert(t.Context(), prompt("m1", "x")), adapter.Unconfirmed, nil, "sent before")
	ended, end := context.WithCancel(t.Context())
	end()
	checkAnswer(t, "context ended", a.Insert(ended, prompt("m1", "x")), adapter.Unconfirmed, nil, "sent before")
	s.change(func(s *server) { s.busy, s.drop, s.posted = nil, false, 400 })
	checkAnswer(t, "declined", a.Insert(t.Context(), prompt("m1", "x")), adapter.Unconfirmed, nil, "sent before")
	s.change(func(s *server) { s.busy, s.posted = map[string]string{"type": "busy"}, 0 })
	checkAnswer(t, "another", a.Insert(t.Context(), prompt("m2", "x")), adapter.Refused, adapter.ErrBusy, "at work")
	for mid, want := range map[string]adapter.Presence{"m1": adapter.CannotTell, "m2": adapter.Absent} {
		if p, err := a.Lookup(t.Context(), mid); p != want || err != nil {
			t.Errorf("Lookup(%s): got %s, %v, want %s", mid, p, err, want)
		}
	}
	s.change(func(s *server) { s.hidden = 0 })
	if p, err := a.Lookup(t.Context(), "m1"); p != adapter.Present || err != nil {
		t.Errorf("Lookup: got %s, %v, want present", p, err)
	}
	if err := a.Insert(t.Context(), prompt("m1", "x")); err != nil || s.posts != 2 {
		t.Errorf("got %v and %d requests, want it taken without a third", err, s.posts)
	}
}

// TestServerThatNeverAnswers bounds every call.
func TestServerThatNeverAnswers(t *testing.T) {
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	a := open(t, t.TempDir(), opencode.Options{URL: silent.URL, Session: "ses_1", Timeout: 20 * time.Millisecond})
	checkAnswer(t, "insert", a.Insert(t.Context(), prompt("m1", "x")), adapter.Refused, nil, "no answer within 20ms")
	if s, err := a.Probe(t.Context()); s != adapter.Unknown || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Probe: got %s, %v, want unknown", s, err)
	}
}

func TestNotOpencode(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }))
	t.Cleanup(other.Close)
	a := open(t, t.TempDir(), opencode.Options{URL: other.URL})
	checkAnswer(t, "insert", a.Insert(t.Context(), prompt("m1", "x")), adapter.Refused, nil, "see whether url is right")
}
