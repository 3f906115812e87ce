package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
)

// lose takes the segment of the log away and makes the handle look for it by its name,
// so that its next data sync fails; the returned function brings the segment back.
func lose(t *testing.T, s *session.Session, log *timeline.Log) (restore func()) {
	t.Helper()
	path := filepath.Join(s.Dir(), "timeline", "000000000001.ndjson")
	check(t, errors.Join(log.Close(), os.Rename(path, path+".away")))
	return func() { check(t, os.Rename(path+".away", path)) }
}

// failingSync makes the next data sync for an event that is appended by do fail.
func failingSync(t *testing.T, s *session.Session, do func()) {
	t.Helper()
	found := func() {}
	restore := step.Hook(func(name string) {
		if name == "session: declaration appended" {
			found = lose(t, s, s.Pen())
		}
	})
	do()
	restore()
	found()
}

// declareInDoubt declares what cannot be synced.
func declareInDoubt(t *testing.T, s *session.Session, d session.Declaration) (answer session.Declared, err error) {
	t.Helper()
	failingSync(t, s, func() { answer, err = s.Declare(ctx, d) })
	wantError(t, err, segment.ErrFaulted)
	return answer, err
}

// A declaration that could not be synced is in doubt, and says so; the session goes
// on, and its own log, which refuses to, stays as honest as it was.
func TestDeclarationInDoubt(t *testing.T) {
	store := newStore(t)
	s := create(t, store, "s")
	declare(t, s, active)
	answer, err := declareInDoubt(t, s, asking)
	if !answer.Moved || answer.Next.IsZero() || answer.Status != asking.Status {
		t.Errorf("got %+v with the error, want what was declared", answer)
	}
	if text := err.Error(); strings.Count(text, "session s: ") != 1 || !strings.Contains(text, "power cut") {
		t.Errorf("got error %q", text)
	}
	if got := words(declarations(t, s)); got != words([]session.Declaration{active, asking}) || record(t, s).Authored() != asking {
		t.Errorf("got events %s, record %+v", got, record(t, s))
	}
	if declare(t, s, asking).Moved {
		t.Error("got the same declaration moved again")
	}
	if !declare(t, s, merge).Moved {
		t.Error("got the next declaration unmoved")
	}
	check(t, s.Archive(ctx))
	_, err = s.Timeline().Append(ctx, timeline.Sent{MID: "m", Text: "hello"})
	wantError(t, err, segment.ErrFaulted)
	_, err = open(t, store, "s").Timeline().Append(ctx, timeline.Sent{MID: "m", Text: "hello"})
	check(t, err)
	declare(t, s, nothing)
	if got, want := words(declarations(t, s)), words([]session.Declaration{active, asking, merge, nothing}); got != want {
		t.Errorf("got events %s, want %s", got, want)
	}
}

// What was written through the session's log before the fault is not acknowledged by
// the sync of a later declaration, which knows nothing of it.
func TestDoubtIsNotForgotten(t *testing.T) {
	s := create(t, newStore(t), "s")
	declare(t, s, active)
	lock := held(t, s)
	written, err := s.Timeline().Write(lock, timeline.Sent{MID: "m", Text: "hello"})
	check(t, errors.Join(err, lock.Release()))
	declareInDoubt(t, s, asking)
	declare(t, s, merge)
	wantError(t, s.Timeline().Commit(written), segment.ErrFaulted)
}

// A log that refuses between the replacement of the record and the event is opened
// anew under the declaration.
func TestFaultInsideADeclaration(t *testing.T) {
	s := create(t, newStore(t), "s")
	declare(t, s, active)
	lock := held(t, s)
	written, err := s.Timeline().Write(lock, timeline.Sent{MID: "m", Text: "hello"})
	check(t, errors.Join(err, lock.Release()))
	atStep(t, "session: session.json replaced", func() {
		found := lose(t, s, s.Timeline())
		wantError(t, s.Timeline().Commit(written), segment.ErrFaulted)
		found()
	})
	if !declare(t, s, asking).Moved || words(declarations(t, s)) != words([]session.Declaration{active, asking}) {
		t.Errorf("got events %s", words(declarations(t, s)))
	}
}

// The event that a repair appends can be in doubt as well; it is appended once.
func TestHealInDoubt(t *testing.T) {
	s := create(t, newStore(t), "s")
	declare(t, s, active)
	declare(t, s, session.Declaration{Status: "asking"})
	h := held(t, s)
	check(t, h.Begin())
	rewrite(t, s, "parked", `{"seq":2,"ts":"2026-07-16T00:00:05.000Z"}`)
	check(t, h.Release())
	failingSync(t, s, func() {
		h := held(t, s)
		wantError(t, s.Heal(ctx, h), segment.ErrFaulted)
		check(t, h.Release())
	})
	check(t, s.Archive(ctx))
	declare(t, s, active)
	if got := statuses(t, s); got != "active asking parked active" {
		t.Errorf("got %q", got)
	}
}

// One fault after the other leaves no open files behind.
func TestManyFaults(t *testing.T) {
	s := create(t, newStore(t), "s")
	declare(t, s, active)
	before, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not list the open files: ", err)
	}
	for range 10 {
		declareInDoubt(t, s, asking)
		declareInDoubt(t, s, merge)
	}
	declare(t, s, active)
	if after, err := os.ReadDir("/proc/self/fd"); err != nil || len(after) > len(before)+4 {
		t.Errorf("got %d open files, %v, before there were %d", len(after), err, len(before))
	}
	check(t, s.Close(ctx))
	_, err = s.Declare(ctx, asking)
	wantError(t, err, lock.ErrClosed)
}
