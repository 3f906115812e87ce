package watching_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// The message is an ordinary one from the watched session, with attributes for programs.
func TestMessage(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	w.watch("s1", "lead")
	w.declare("s1", "all tests pass", session.StatusAwaiting, session.ProposalMerge)
	w.tell("s1")
	e := w.pending("lead")[0]
	var end timeline.Cursor
	w.in("s1", func(s *session.Session) (err error) {
		end, err = s.Timeline().End(t.Context())
		return err
	})
	want := map[string]string{
		"watch.session": "s1", "watch.cursor": end.String(), "watch.status": "awaiting", "watch.proposal": "merge", "watch.display": "review",
	}
	if e.From != "s1" || fmt.Sprint(e.Attributes) != fmt.Sprint(want) || e.Dispatch.Operation != watching.Operation {
		t.Errorf("got %+v, want it from s1 with %v", e, want)
	}
	if !strings.HasPrefix(e.Text, "[docket] s1 declared review at ") || !strings.Contains(e.Text, "    all tests pass\n") {
		t.Errorf("got %q", e.Text)
	}
	w.declare("s1", "", session.StatusActive)
	w.declare("s1", "")
	w.tell("s1")
	if got := w.pending("lead"); len(got) != 2 || got[1].Attributes["watch.proposal"] != "" || !strings.Contains(got[1].Text, "There is no note.") {
		t.Errorf("got %+v, want one more without proposal and note", got)
	}
}

// A headless watcher is not asked for a note, and what a human was told before of where
// the answer is read still holds.
func TestMessageLeavesTheReplyChannelAlone(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	w.watch("s1", "lead")
	send := func(via compose.Channel) string {
		a, err := w.SendText(t.Context(), "lead", dispatch.Message{Text: "by a human", ReplyVia: via, NoDrain: true})
		must(t, err)
		entries := w.pending("lead")
		return entries[slices.IndexFunc(entries, func(e dispatch.Debt) bool { return e.MID == a.MID })].Text
	}
	send(compose.Note)
	w.declare("s1", "one")
	w.tell("s1")
	if got := w.pending("lead"); strings.Contains(got[len(got)-1].Text, "docket ask") {
		t.Errorf("got %q, want no request for a note", got[len(got)-1].Text)
	}
	if got := send(""); !strings.Contains(got, "reads your terminal again") {
		t.Errorf("got %q, want the human's change of channel said", got)
	}
	w.declare("s1", "two")
	w.tell("s1")
	if got := send(""); got != "by a human" {
		t.Errorf("got %q, want it said once", got)
	}
}

// Messages are no declarations: sessions that watch each other do not go on for ever.
func TestWatchEachOther(t *testing.T) {
	w := newWorld(t, "s1", "s2")
	w.watch("s1", "s2")
	w.watch("s2", "s1")
	w.declare("s1", "one")
	w.declare("s2", "two")
	for range 5 {
		w.tell("s1")
		w.tell("s2")
	}
	wantEqual(t, "s2", w.notes("s2"), list("one"))
	wantEqual(t, "s1", w.notes("s1"), list("two"))
}

// A watcher that is closed leaves the list, and its id is another session's afterwards.
func TestClosedWatcher(t *testing.T) {
	w := newWorld(t, "s1", "lead", "other", "third")
	for _, by := range list("lead", "other", "third") {
		w.watch("s1", by)
	}
	w.close("lead")
	w.close("other")
	w.create("other")
	w.declare("s1", "one")
	if told := w.tell("s1"); told.Messages != 1 || !slices.Equal(told.Ended, list("lead", "other")) {
		t.Errorf("got %+v, want third told, and the others gone", told)
	}
	wantEqual(t, "watchers", w.watchers("s1"), list("third"))
	wantEqual(t, "the new one", w.notes("other"), nil)

	w.close("third")
	w.create("third")
	w.watch("s1", "third") // takes the place of its predecessor
	wantEqual(t, "watchers", w.watchers("s1"), list("third"))
	w.declare("s1", "two")
	w.tell("s1")
	wantEqual(t, "third", w.notes("third"), list("two"))
}

// What was told of a session stays owed when that is closed; the list goes with it.
func TestClosedWatched(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	w.watch("s1", "lead")
	w.declare("s1", "the last word")
	w.tell("s1")
	w.close("s1")
	if told := w.tell("s1"); told.Messages != 0 {
		t.Errorf("got %+v, want nothing", told)
	}
	_, err := w.Drain(t.Context(), "lead", dispatch.DrainOptions{})
	if err == nil {
		t.Fatal("nothing takes messages here, and something was taken")
	}
	wantEqual(t, "lead", w.notes("lead"), list("the last word"))
	w.create("s1")
	wantEqual(t, "watchers", w.watchers("s1"), nil)
}

func TestArchivedAndRetired(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	w.in("lead", func(s *session.Session) error {
		return errors.Join(s.Archive(t.Context()), s.Retire(t.Context()))
	})
	w.watch("s1", "lead")
	w.declare("s1", "one")
	w.in("s1", func(s *session.Session) error { return errors.Join(s.Archive(t.Context()), s.Retire(t.Context())) })
	w.tell("s1")
	wantEqual(t, "lead", w.notes("lead"), list("one"))
}

// A watcher that cannot be told keeps nobody waiting, and is told in order later.
func TestUntold(t *testing.T) {
	w := newWorld(t, "s1", "stuck", "lead", "broken")
	for _, by := range list("stuck", "lead", "broken") {
		w.watch("s1", by)
	}
	queued, record := w.dir+"/sessions/stuck/pending.json", w.dir+"/sessions/broken/session.json"
	good, err := os.ReadFile(record)
	must(t, err)
	must(t, os.WriteFile(record, []byte("{"), 0o600))
	must(t, os.WriteFile(queued, []byte("{"), 0o600))
	for i := range 3 {
		w.declare("s1", fmt.Sprint(i))
		told, err := w.w.Tell(t.Context(), "s1", watching.TellOptions{})
		var untold *watching.UntoldError
		if !errors.As(err, &untold) || !slices.Equal(untold.By, list("stuck", "broken")) || told.Messages != 1 {
			t.Fatalf("got %+v and %v, want stuck and broken untold", told, err)
		}
		wantIs(t, err, queue.ErrCorrupt)
	}
	wantEqual(t, "lead", w.notes("lead"), list("0", "1", "2"))
	must(t, os.WriteFile(record, good, 0o600))
	must(t, os.Remove(queued))
	w.declare("s1", "3")
	w.tell("s1")
	wantEqual(t, "broken", w.notes("broken"), list("0", "1", "2", "3"))
	wantEqual(t, "stuck", w.notes("stuck"), list("0", "1", "2", "3"))
}

// Where a store takes only short texts, the message has less of the note.
func TestTextTooLargeForTheStore(t *testing.T) {
	w := newWorld(t)
	w.maxText = 2000
	w.start()
	w.create("s1")
	w.create("lead")
	w.watch("s1", "lead")
	w.declare("s1", strings.Repeat("long ", 390))
	w.tell("s1")
	if e := w.pending("lead")[0]; !strings.Contains(e.Text, "of which this is ") || !strings.Contains(e.Text, "long long") {
		t.Errorf("got %q", e.Text)
	}
}

// Another version may word the message otherwise: that it was sent is what counts.
func TestMessageInOtherWords(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	w.watch("s1", "lead")
	w.declare("s1", "one")
	list, err := os.ReadFile(w.file("s1"))
	must(t, err)
	w.tell("s1")
	must(t, os.WriteFile(w.file("s1"), list, 0o600)) // as if it had died before the place
	w.w = watching.New(w.store, w.Dispatcher, watching.Options{Text: func(n watching.News) string { return "NEWS\n\n    " + n.Event.Note + "\n\nTo answer: " }})
	w.declare("s1", "two")
	if told := w.tell("s1"); told.Messages != 1 {
		t.Errorf("got %+v, want one", told)
	}
	if got := w.pending("lead"); len(got) != 2 || !strings.HasPrefix(got[1].Text, "NEWS") {
		t.Errorf("got %+v", got)
	}
}

// A line of the watched timeline that cannot be read is said, once, and passed over.
func TestUnreadableLine(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	w.watch("s1", "lead")
	for _, note := range []string{"one", "two", "three"} {
		w.declare("s1", note)
	}
	path := w.dir + "/sessions/s1/timeline/000000000001.ndjson"
	content, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte(strings.Replace(string(content), `"two"`, `"t}o"`, 1)), 0o600))
	w.start()
	_, err = w.w.Tell(t.Context(), "s1", watching.TellOptions{})
	wantIs(t, err, timeline.ErrCorrupt)
	wantEqual(t, "lead", w.notes("lead"), []string{"one", "three"})
	w.tell("s1")
}

// Without anything to tell, nothing is written, until much was passed over.
func TestTellWritesLittle(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	w.watch("s1", "lead")
	before := w.place()
	for i := range 300 {
		_, err := w.SendText(t.Context(), "s1", dispatch.Message{Text: fmt.Sprint(i), NoDrain: true})
		must(t, err)
		w.tell("s1")
		if now := w.place(); now != before && i < 200 {
			t.Fatalf("the place was noted after %d events without news", i+1)
		}
	}
	if w.place() == before {
		t.Error("the place was never noted")
	}
}

func (w *world) place() timeline.Cursor {
	all, err := w.w.List("s1")
	must(w.t, err)
	return all[0].Place
}

func TestManyWatchers(t *testing.T) {
	w := newWorld(t)
	w.buffered = true
	w.start()
	w.create("s1")
	const many = 200
	for i := range many {
		w.create(fmt.Sprint("lead-", i))
		w.watch("s1", fmt.Sprint("lead-", i))
	}
	w.declare("s1", "one")
	w.declare("s1", "two")
	if told := w.tell("s1"); told.Messages != 2*many || len(told.To) != many {
		t.Errorf("got %d messages to %d", told.Messages, len(told.To))
	}
	wantEqual(t, "the last", w.notes(fmt.Sprint("lead-", many-1)), list("one", "two"))
	if told := w.tell("s1"); told.Messages != 0 {
		t.Errorf("got %d more messages, want none", told.Messages)
	}
}

// A long past is told in parts, so that a death does not begin at its start again.
func TestLongPast(t *testing.T) {
	w := newWorld(t)
	w.buffered = true
	w.start()
	w.create("s1")
	w.create("lead")
	var start timeline.Cursor
	w.in("s1", func(s *session.Session) (err error) {
		start, err = s.Timeline().Start(t.Context())
		for i := range 600 {
			_, declared := s.Declare(t.Context(), session.Declaration{Status: session.StatusIdle, Note: fmt.Sprint(i)})
			err = errors.Join(err, declared)
		}
		return err
	})
	w.request("s1", watching.Request{By: "lead", From: start})
	if told := w.tell("s1"); told.Messages != 600 {
		t.Fatalf("got %d messages", told.Messages)
	}
	for i, note := range w.notes("lead") {
		if note != fmt.Sprint(i) {
			t.Fatalf("got %s as number %d", note, i)
		}
	}
}

// A list that came with a copy of another session's directory names places of another
// log. It is said, and the watch can be ended and begun again.
func TestPlaceOfAnotherLog(t *testing.T) {
	w := newWorld(t, "s1", "s2", "lead", "other")
	w.watch("s1", "lead")
	w.watch("s1", "other")
	w.declare("s1", "one")
	w.declare("s2", "two")
	copied, err := os.ReadFile(w.file("s1"))
	must(t, err)
	must(t, os.WriteFile(w.file("s2"), copied, 0o600))
	_, err = w.w.Tell(t.Context(), "s2", watching.TellOptions{})
	wantIs(t, err, timeline.ErrForeignCursor)
	w.unwatch("s2", "lead")
	w.watch("s2", "other")
	w.declare("s2", "three")
	w.tell("s2")
	wantEqual(t, "watchers", w.watchers("s2"), list("other"))
	wantEqual(t, "other", w.notes("other"), list("three"))
}

// A sweeper learns of a declaration that nobody told, without looking at all sessions
// again, and delivers the message.
func TestSweeperTells(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	looked := make(chan bool, 1)
	s := dispatch.NewSweeper(w.Dispatcher, dispatch.SweepOptions{
		Interval: time.Hour,
		Tend: func(ctx context.Context, id string) error {
			_, err := w.w.Tell(ctx, id, watching.TellOptions{NoDrain: true})
			if id == "lead" {
				select {
				case looked <- true:
				default:
				}
			}
			return err
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	<-looked
	w.watch("s1", "lead")
	w.declare("s1", "one")
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for len(w.pending("lead")) == 0 {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("nobody told")
		}
	}
	cancel()
	wantIs(t, <-ended, context.Canceled)
	wantEqual(t, "lead", w.notes("lead"), list("one"))
}
