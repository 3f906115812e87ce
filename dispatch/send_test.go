package dispatch_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

func TestSendIsRecordedAndDelivered(t *testing.T) {
	w := newWorld(t, "s1")
	a := w.send("s1", dispatch.Message{Text: "run the tests", From: "lead", Attributes: map[string]string{"kind": "task"}})
	if !a.Delivered || a.Pass != nil || a.Replayed {
		t.Fatalf("got %+v, want it delivered", a)
	}
	got := w.agent.last()
	if got.MID != a.MID || got.Text != "run the tests" || got.From != "lead" || got.Session != "s1" || got.Attributes["kind"] != "task" {
		t.Fatalf("the agent got %+v", got)
	}
	wantEqual(t, "timeline", w.sent("s1"), []string{a.MID})
	wantEqual(t, "owed", w.pending("s1"), nil)
	if c := w.condition("s1", a.MID); c != dispatch.Delivered {
		t.Fatalf("got %s, want delivered", c)
	}
	if _, err := os.Lstat(filepath.Join(w.dir, "sessions", "s1", "pending.json")); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("got %v, want no queue file when nothing is owed", err)
	}
}

func TestRefusedMessageStaysOwedInOrder(t *testing.T) {
	w := newWorld(t, "s1")
	w.agent.set(busy)
	first := w.send("s1", dispatch.Message{Text: "one"})
	var pass *dispatch.PassError
	if first.Delivered || !errors.As(first.Pass, &pass) || pass.MID != first.MID || pass.Answer != adapter.Refused {
		t.Fatalf("got %+v, want it owed with the reason", first)
	}
	wantIs(t, first.Pass, adapter.ErrBusy)
	second := w.send("s1", dispatch.Message{Text: "two"})
	wantEqual(t, "owed", w.pending("s1"), []string{first.MID, second.MID})
	s, err := w.State(t.Context(), "s1", first.MID)
	must(t, err)
	if s.Condition != dispatch.Owed || s.Attempts != 2 || !strings.Contains(s.LastError, "busy") || s.LastAttempt.IsZero() {
		t.Fatalf("got %+v, want two attempts and the reason", s)
	}
	w.agent.set(nil)
	done, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "delivered", done.Delivered, []string{first.MID, second.MID})
	wantEqual(t, "agent", w.agent.mids(), w.sent("s1"))
}

// What is refused leaves no trace: no line, no debt, no file of another session.
func TestRefusalsWriteNothing(t *testing.T) {
	for _, tt := range []struct {
		name string
		to   string
		m    dispatch.Message
		want error
	}{
		{"unknown session", "s2", dispatch.Message{Text: "x"}, session.ErrNotFound},
		{"id that climbs", "../s1", dispatch.Message{Text: "x"}, session.ErrBadID},
		{"empty id", "", dispatch.Message{Text: "x"}, session.ErrBadID},
		{"empty text", "s1", dispatch.Message{}, dispatch.ErrEmptyText},
		{"white space alone", "s1", dispatch.Message{Text: " \n\t"}, dispatch.ErrEmptyText},
		{"not UTF-8", "s1", dispatch.Message{Text: "a\xffb"}, timeline.ErrText},
		{"NUL", "s1", dispatch.Message{Text: "a\x00b"}, timeline.ErrText},
		{"oversized", "s1", dispatch.Message{Text: strings.Repeat("x", timeline.DefaultMaxTextBytes+1)}, timeline.ErrTooLarge},
		{"sender that climbs", "s1", dispatch.Message{Text: "x", From: "../s1"}, session.ErrBadID},
		{"unknown channel", "s1", dispatch.Message{Text: "x", ReplyVia: "pigeon"}, compose.ErrChannel},
		{"operation without key", "s1", dispatch.Message{Text: "x", Operation: "merge"}, dispatch.ErrKey},
		{"key too long", "s1", dispatch.Message{Text: "x", Key: strings.Repeat("k", 5000)}, dispatch.ErrKey},
		{"nameless attribute", "s1", dispatch.Message{Text: "x", Attributes: map[string]string{"": "v"}}, dispatch.ErrAttributes},
		{"huge attribute", "s1", dispatch.Message{Text: "x", Attributes: map[string]string{"a": strings.Repeat("v", 20<<10)}}, dispatch.ErrAttributes},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, "s1")
			_, err := w.SendText(t.Context(), tt.to, tt.m)
			wantIs(t, err, tt.want)
			wantEqual(t, "timeline", w.sent("s1"), nil)
			wantEqual(t, "owed", w.pending("s1"), nil)
			wantEqual(t, "agent", w.agent.mids(), nil)
		})
	}
}

func TestUnreadableRecordRefuses(t *testing.T) {
	w := newWorld(t, "s1")
	must(t, os.WriteFile(filepath.Join(w.dir, "sessions", "s1", "session.json"), []byte("{"), 0o600))
	_, err := w.SendText(t.Context(), "s1", dispatch.Message{Text: "x"})
	wantIs(t, err, session.ErrUnreadable)
	wantEqual(t, "timeline", w.sent("s1"), nil)
}

func TestCorruptQueueRefusesAndIsLeftAlone(t *testing.T) {
	w := newWorld(t, "s1")
	path := filepath.Join(w.dir, "sessions", "s1", "pending.json")
	must(t, os.WriteFile(path, []byte("[{\"mid\":"), 0o600))
	w.reopen(dispatch.Options{})
	_, err := w.SendText(t.Context(), "s1", dispatch.Message{Text: "x"})
	wantIs(t, err, queue.ErrCorrupt)
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	wantIs(t, err, queue.ErrCorrupt)
	_, err = w.Pending(t.Context(), "s1")
	wantIs(t, err, queue.ErrCorrupt)
	_, err = w.State(t.Context(), "s1", "any")
	wantIs(t, err, queue.ErrCorrupt)
	got, err := os.ReadFile(path)
	must(t, err)
	if string(got) != "[{\"mid\":" {
		t.Fatalf("got %q, want the file untouched", got)
	}
	wantEqual(t, "timeline", w.sent("s1"), nil)
}

// The channel that compose decided is recorded, the raw text too; the agent gets
// the composed text, also when it is delivered later.
func TestReplyChannel(t *testing.T) {
	w := newWorld(t, "s1")
	w.send("s1", dispatch.Message{Text: "by note", ReplyVia: compose.Note})
	if got := w.agent.last().Text; !strings.HasPrefix(got, "by note\n\n") || !strings.Contains(got, `docket ask --note "<complete reply>"`) {
		t.Fatalf("got %q, want the note-reply insert", got)
	}
	w.send("s1", dispatch.Message{Text: "from an agent", From: "lead"})
	if got := w.agent.last().Text; got != "from an agent" {
		t.Fatalf("got %q, want it bare: an agent's message says nothing about where the human reads", got)
	}
	w.agent.set(busy)
	w.send("s1", dispatch.Message{Text: "back"})
	w.send("s1", dispatch.Message{Text: "bare"})
	w.agent.set(nil)
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	var texts []string
	for _, p := range w.agent.got[2:] {
		texts = append(texts, p.Text)
	}
	wantEqual(t, "delivered", texts, []string{"back\n\n" + compose.DefaultTerminalReply, "bare"})
	for i, e := range w.events("s1") {
		want := []timeline.Event{
			{Text: "by note", ReplyVia: timeline.Note}, {Text: "from an agent", From: "lead"}, {Text: "back"}, {Text: "bare"},
		}[i]
		if e.Text != want.Text || e.ReplyVia != want.ReplyVia || e.From != want.From {
			t.Errorf("event %d: got %q via %q from %q, want %+v", i, e.Text, e.ReplyVia, e.From, want)
		}
	}
}

func TestHeadlessAdapterMeansNote(t *testing.T) {
	w := newWorld(t, "s1")
	w.agent.headless = true
	w.send("s1", dispatch.Message{Text: "hello"})
	if got := w.events("s1")[0].ReplyVia; got != timeline.Note {
		t.Fatalf("got channel %q, want note", got)
	}
}

func TestUnknownAdapterStillAccepts(t *testing.T) {
	w := newWorld(t)
	s, err := w.store.Create(t.Context(), session.New{ID: "s1", Adapter: "elsewhere"})
	must(t, err)
	must(t, s.Release())
	a := w.send("s1", dispatch.Message{Text: "hello"})
	wantIs(t, a.Pass, adapter.ErrUnknownAdapter)
	if c := w.condition("s1", a.MID); c != dispatch.Owed {
		t.Fatalf("got %s, want owed", c)
	}
}

func TestRetiredAndArchivedSessionsReceive(t *testing.T) {
	w := newWorld(t, "s1")
	s, err := w.store.Open("s1")
	must(t, err)
	defer s.Release()
	must(t, s.Retire(t.Context()))
	must(t, s.Archive(t.Context()))
	w.send("s1", dispatch.Message{Text: "a trace"})
	if got := w.sent("s1"); len(got) != 1 {
		t.Fatalf("got %v, want the message in the timeline", got)
	}
}

func TestClosedSender(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	w.agent.set(busy)
	owed := w.send("s1", dispatch.Message{Text: "from a session that will close", From: "lead"})
	kept := w.send("s1", dispatch.Message{Text: "from a human"})
	lead, err := w.store.Open("lead")
	must(t, err)
	must(t, lead.Close(t.Context()))

	_, err = w.SendText(t.Context(), "s1", dispatch.Message{Text: "too late", From: "lead"})
	wantIs(t, err, dispatch.ErrSenderClosed)
	w.agent.set(nil)
	done, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "delivered", done.Delivered, []string{kept.MID})
	s, err := w.State(t.Context(), "s1", owed.MID)
	must(t, err)
	if s.Condition != dispatch.Revoked || !strings.Contains(s.Reason, "lead was closed") {
		t.Fatalf("got %+v, want it revoked with the reason", s)
	}
	wantEqual(t, "timeline", w.sent("s1"), []string{owed.MID, kept.MID})
}

// Clocks do not decide which life of a sender said something.
func TestNewLifeOfAClosedSender(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	old := w.send("s1", dispatch.Message{Text: "from the old life", From: "lead", NoDrain: true}).MID
	lead, err := w.store.Open("lead")
	must(t, err)
	must(t, lead.Close(t.Context()))
	w.create("lead")
	w.reopen(dispatch.Options{Now: func() time.Time { return time.Now().Add(-time.Hour) }})
	fresh := w.send("s1", dispatch.Message{Text: "from the new life", From: "lead", NoDrain: true}).MID
	done, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "delivered", done.Delivered, []string{fresh})
	if c := w.condition("s1", old); c != dispatch.Revoked {
		t.Fatalf("got %s for the old life's message, want revoked", c)
	}
}

// A mark that cannot be read stops nobody who has nothing to do with it.
func TestDamagedMarkOfAClosedSender(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	void := w.send("s1", dispatch.Message{Text: "from the closed", From: "lead", NoDrain: true}).MID
	kept := w.later("s1", "from a human")
	lead, err := w.store.Open("lead")
	must(t, err)
	must(t, lead.Close(t.Context()))
	must(t, os.WriteFile(filepath.Join(w.dir, "closed", "lead"), []byte("garbage"), 0o600))
	done, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "delivered", done.Delivered, []string{kept})
	if c := w.condition("s1", void); c != dispatch.Revoked {
		t.Fatalf("got %s, want revoked", c)
	}
	_, err = w.SendText(t.Context(), "s1", dispatch.Message{Text: "too late", From: "lead"})
	wantIs(t, err, dispatch.ErrSenderClosed)
}

func TestSendToSelfAndAcross(t *testing.T) {
	w := newWorld(t, "a", "b")
	w.send("a", dispatch.Message{Text: "note to self", From: "a"})
	done := make(chan error, 40)
	for i := range 40 {
		to, from := "a", "b"
		if i%2 == 0 {
			to, from = from, to
		}
		go func() {
			_, err := w.SendText(t.Context(), to, dispatch.Message{Text: "x", From: from})
			done <- err
		}()
	}
	for range 40 {
		must(t, <-done)
	}
	if got := len(w.sent("a")) + len(w.sent("b")); got != 41 {
		t.Fatalf("got %d messages, want 41", got)
	}
}

func TestClosedTarget(t *testing.T) {
	w := newWorld(t, "s1")
	w.send("s1", dispatch.Message{Text: "x"})
	s, err := w.store.Open("s1")
	must(t, err)
	must(t, s.Close(t.Context()))
	_, err = w.SendText(t.Context(), "s1", dispatch.Message{Text: "x"})
	wantIs(t, err, session.ErrNotFound)
	w.create("s1")
	w.send("s1", dispatch.Message{Text: "a new life"})
	if got := w.sent("s1"); len(got) != 1 {
		t.Fatalf("got %v, want the new life's message alone", got)
	}
}

// What was not written has no id.
func TestRefusedByTheDiskHasNoMID(t *testing.T) {
	w := newWorld(t)
	w.create("s1")
	must(t, os.WriteFile(filepath.Join(w.dir, "sessions", "s1", "timeline"), nil, 0o600))
	a, err := w.SendText(t.Context(), "s1", dispatch.Message{Text: "go"})
	if err == nil || errors.Is(err, dispatch.ErrInDoubt) || a != (dispatch.Accepted{}) {
		t.Errorf("got %+v, %v, want an error and nothing else", a, err)
	}
}
