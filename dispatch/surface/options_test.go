package surface_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock/step"
)

// A message goes from a client to the agent, and is told at each step where it is.
func TestAMessageIsFollowedToItsEnd(t *testing.T) {
	p := newPlace(t)
	p.agent.answer = errors.New("no pass is asked for")
	sent := p.send("run the tests", "k1")
	if sent.status != 202 || sent.MID == "" || sent.Replayed || sent.Delivered {
		t.Fatalf("got %+v, want it accepted, and not delivered by the request", sent)
	}
	again := p.send("run the tests", "k1")
	if again.MID != sent.MID || !again.Replayed {
		t.Errorf("again: got %+v, want a replay of %s", again, sent.MID)
	}
	if want := []string{"s1", "s1"}; !slices.Equal(p.nudged, want) {
		t.Errorf("got %v told of, want %v", p.nudged, want)
	}
	p.place(sent.MID, "owed", 1)

	p.drain(adapter.ErrBusy)
	owed := p.ask("GET", "s1/pending", "")
	if len(owed.Pending) != 1 || owed.Pending[0].MID != sent.MID || owed.Pending[0].Attempts != 1 ||
		owed.Pending[0].State != "owed" || !strings.Contains(owed.Pending[0].LastError, "busy") || !strings.HasPrefix(owed.Pending[0].Text, "run the tests") {
		t.Errorf("got %+v, want one message with one attempt", owed)
	}
	p.drain(errors.New("the line went dead"))
	p.place(sent.MID, "unconfirmed", 1)
	if owed := p.ask("GET", "s1/pending", ""); owed.Pending[0].State != "unconfirmed" {
		t.Errorf("got %+v, want it unconfirmed", owed)
	}
	if _, err := p.dispatch.Confirm(t.Context(), "s1", sent.MID, false); err != nil {
		t.Fatal(err)
	}
	p.place(sent.MID, "delivered", 0)
	if again := p.send("run the tests", "k1"); !again.Delivered {
		t.Errorf("again: got %+v, want it delivered", again)
	}
}

// place checks the state of a message and how much is owed.
func (p *place) place(mid, state string, owed int) {
	p.t.Helper()
	if got := p.ask("GET", "s1/states?mid="+mid+"&mid=unknown", ""); len(got.States) != 1 || got.States[mid].State != state {
		p.t.Errorf("got %+v, want %s", got, state)
	}
	if got := p.ask("GET", "s1", ""); got.Owed != owed {
		p.t.Errorf("got %d owed, want %d", got.Owed, owed)
	}
}

func TestRefusalsHaveWords(t *testing.T) {
	p := newPlace(t)
	first := p.send("one", "k1")
	for _, tt := range []struct {
		name   string
		answer answer
		status int
		code   string
	}{
		{"a key for another text", p.send("two", "k1"), 409, "key-reused"},
		{"nothing", p.send(" \n", ""), 422, "empty-text"},
		{"no channel", p.ask("POST", "s1/input", `{"text":"x","replyVia":"mail"}`), 422, "bad-reply-via"},
		{"too large", p.send(strings.Repeat("x", 1<<20), ""), 413, "text-too-large"},
		{"no session", p.ask("POST", "s2/input", `{"text":"x"}`), 404, "no-session"},
	} {
		if tt.answer.status != tt.status || tt.answer.Code != tt.code || len(strings.Fields(tt.answer.Error)) < 4 {
			t.Errorf("%s: got %+v, want %d %s in words", tt.name, tt.answer, tt.status, tt.code)
		}
	}
	if owed := p.ask("GET", "s1/pending", ""); len(owed.Pending) != 1 || owed.Pending[0].MID != first.MID {
		t.Errorf("got %+v, want the first message alone", owed)
	}
}

// A message that was recorded and not queued is in doubt, and its key finds it.
func TestDoubtNamesTheMessage(t *testing.T) {
	p := newPlace(t)
	restore := step.Hook(func(name string) {
		if name == "dispatch: recorded" {
			os.Mkdir(p.queueFile(), 0o700)
		}
	})
	defer restore()
	doubt := p.send("one", "k1")
	restore()
	if doubt.status != 500 || doubt.Code != "in-doubt" || !strings.Contains(doubt.Error, "same Idempotency-Key") {
		t.Fatalf("got %+v, want it in doubt", doubt)
	}
	if err := os.Remove(p.queueFile()); err != nil {
		t.Fatal(err)
	}
	again := p.send("one", "k1")
	if !again.Replayed || !strings.Contains(doubt.Error, again.MID) {
		t.Errorf("got %+v, want the message that %q names", again, doubt.Error)
	}
	p.place(again.MID, "owed", 1)
}

func TestADamagedQueueIsSaidSo(t *testing.T) {
	p := newPlace(t)
	mid := p.send("one", "").MID
	if err := os.WriteFile(p.queueFile(), []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, a := range []answer{p.send("two", ""), p.ask("GET", "s1/pending", ""), p.ask("GET", "s1/states?mid="+mid, "")} {
		if a.status != 500 || a.Code != "unreadable-queue" {
			t.Errorf("got %+v, want 500 unreadable-queue", a)
		}
	}
	if s := p.ask("GET", "s1", ""); s.Fault == nil || s.Fault.Code != "unreadable-queue" {
		t.Errorf("got %+v, want the fault in the session's summary", s)
	}
}

// What the packages keep for themselves is in no answer: receipts and settlements,
// attributes, and the settings of the adapter.
func TestNothingPrivateIsTold(t *testing.T) {
	p := newPlace(t)
	mid := p.send("keyed", "key-of-it").MID
	if _, err := p.dispatch.SendText(t.Context(), "s1", dispatch.Message{
		Text: "from a session", From: "lead", Operation: "op-of-it", Key: "k", Attributes: map[string]string{"name": "attribute-of-it"}, NoDrain: true,
	}); err != nil {
		t.Fatal(err)
	}
	for _, answer := range []error{adapter.ErrBusy, nil} {
		p.drain(answer)
		for _, path := range []string{"s1", "s1/timeline", "s1/pending", "s1/states?mid=" + mid} {
			a := p.ask("GET", path, "")
			for _, secret := range []string{"key-of-it", "op-of-it", "attribute-of-it", "eceipt", "igest", "ettled", "peration", "http-input", p.dir} {
				if strings.Contains(a.text, secret) {
					t.Errorf("%s holds %q: %s", path, secret, a.text)
				}
			}
		}
	}
}

// The states of a long conversation are had at once, as many as a page holds.
func TestManyStates(t *testing.T) {
	p := newPlace(t)
	var query []string
	for i := range 500 {
		a, err := p.dispatch.SendText(t.Context(), "s1", dispatch.Message{Text: fmt.Sprint("message ", i), ReplyVia: "terminal", NoDrain: true})
		if err != nil {
			t.Fatal(err)
		}
		query = append(query, "mid="+a.MID)
	}
	p.drain(nil)
	got := p.ask("GET", "s1/states?"+strings.Join(query, "&"), "")
	if len(got.States) != len(query) {
		t.Fatalf("got %d states, want %d", len(got.States), len(query))
	}
	for mid, s := range got.States {
		if s.State != string(dispatch.Delivered) || s.EndedAt == "" {
			t.Errorf("message %s: got %+v, want it delivered", mid, s)
		}
	}
}
