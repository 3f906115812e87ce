package timeline_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
)

// pull starts a follower whose updates are taken one by one. next fails the test on
// an error.
func pull(t *testing.T, l *timeline.Log, o timeline.FollowOptions) (next func() timeline.Update, stop func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	raw, stop := iter.Pull2(l.Follow(ctx, o))
	t.Cleanup(func() { stop(); cancel() })
	return func() timeline.Update {
		t.Helper()
		u, err, ok := raw()
		if err != nil || !ok {
			t.Fatalf("got %v, %v, want an update", err, ok)
		}
		return u
	}, stop
}

// wantEvents takes n updates and checks that they are the events from seq on.
func wantEvents(t *testing.T, next func() timeline.Update, seq, n int) {
	t.Helper()
	for i := range n {
		if u := next(); u.CaughtUp || u.Event.Seq != uint64(seq+i) {
			t.Fatalf("got %+v, want event %d", u, seq+i)
		}
	}
}

func wantMark(t *testing.T, next func() timeline.Update) timeline.Cursor {
	t.Helper()
	u := next()
	if !u.CaughtUp || u.Event != (timeline.Event{}) {
		t.Fatalf("got %+v, want the caught-up mark", u)
	}
	return u.Next
}

// waits are the ways in which a follower learns of news. With an hour between two
// looks, only notification can be what wakes it.
var waits = []struct {
	name string
	poll time.Duration
}{{"notified", time.Hour}, {"polling", -time.Millisecond}}

func TestFollow(t *testing.T) {
	for _, wait := range waits {
		t.Run(wait.name, func(t *testing.T) {
			l := buffered(t, newDir(t), 500)
			for i := range 10 {
				appendAll(t, l, message(i), timeline.Settled{MID: message(i).MID})
			}
			next, _ := pull(t, l, timeline.FollowOptions{Poll: wait.poll})
			wantEvents(t, next, 0, 10)
			wantMark(t, next)
			for i := 10; i < 30; i += 2 { // over several rotations
				appendAll(t, l, message(i), message(i+1))
				if _, err := l.Seal(t.Context()); err != nil {
					t.Fatal(err)
				}
				wantEvents(t, next, i, 2)
			}
		})
	}
}

// A hookedContext does something when a follower that found nothing more begins to wait.
type hookedContext struct {
	context.Context
	hook func()
}

func (c *hookedContext) Done() <-chan struct{} {
	if hook := c.hook; hook != nil {
		c.hook = nil
		hook()
	}
	return c.Context.Done()
}

// What is committed at once to the end of a segment and to the next ones is all found,
// although one wake-up tells of both.
func TestFollowHearsOfAllAtOnce(t *testing.T) {
	l := buffered(t, newDir(t), 1200) // for some messages
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	hooked := &hookedContext{Context: ctx}
	raw, stop := iter.Pull2(l.Follow(hooked, timeline.FollowOptions{Poll: time.Hour}))
	defer stop()
	next := func() timeline.Update {
		u, err, _ := raw()
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	wantMark(t, next)
	for i := 0; i < 60; i += 3 {
		hooked.hook = func() { appendAll(t, l, message(i), message(i+1), message(i+2)) }
		wantEvents(t, next, i, 3)
	}
}

func TestFollowModes(t *testing.T) {
	l := buffered(t, newDir(t), 0)
	w := appendAll(t, l, message(0), message(1))
	appendAll(t, l, message(2))

	after, _ := pull(t, l, timeline.FollowOptions{Mode: timeline.After, After: w.Next})
	wantEvents(t, after, 2, 1)
	if c := wantMark(t, after); c == w.Next {
		t.Error("the mark names the place where the follower began")
	}
	// Events committed between the call and the first step belong to Tail.
	tail, _ := pull(t, l, timeline.FollowOptions{Mode: timeline.TailOnly})
	appendAll(t, l, message(3))
	wantEvents(t, tail, 3, 1)
	wantMark(t, tail)
	appendAll(t, l, message(4))
	wantEvents(t, tail, 4, 1)
	wantEvents(t, after, 3, 2)
}

// The mark comes where history ended when the follower began, also when there are
// always new events.
func TestFollowMarksTheEndOfHistory(t *testing.T) {
	l := buffered(t, newDir(t), 0)
	appendAll(t, l, message(0), message(1), message(2))
	n := 0
	for u, err := range l.Follow(t.Context(), timeline.FollowOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if u.CaughtUp {
			break
		}
		appendAll(t, l, message(100+n))
		if n++; n > 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("the mark came after %d events, want 3", n)
	}
}

func TestFollowCursorsGoOn(t *testing.T) {
	l := buffered(t, newDir(t), 300)
	var from timeline.FollowOptions
	for i := range 20 { // a new follower for each event
		next, stop := pull(t, l, from)
		if i == 0 {
			wantMark(t, next) // of the empty log
		}
		appendAll(t, l, message(i))
		u := next()
		if u.CaughtUp {
			u = next()
		}
		if u.Event.Seq != uint64(i) {
			t.Fatalf("got %+v, want event %d", u, i)
		}
		stop()
		from = timeline.FollowOptions{Mode: timeline.After, After: u.Next}
	}
}

// A follower may be there before the log is.
func TestFollowBeforeTheFirstLine(t *testing.T) {
	for _, wait := range waits {
		t.Run(wait.name, func(t *testing.T) {
			dir := newDir(t)
			next, _ := pull(t, buffered(t, dir, 0), timeline.FollowOptions{Poll: wait.poll})
			wantMark(t, next)
			writer := buffered(t, dir, 0)
			for i := range 5 {
				appendAll(t, writer, message(i))
				wantEvents(t, next, i, 1)
			}
		})
	}
}

// Cursors of a log that another program began while it was followed lead on.
func TestFollowALogThatAnotherProgramBegins(t *testing.T) {
	for _, name := range []string{"timeline.ndjson", "timeline/000000000001.ndjson"} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			if err := os.Mkdir(filepath.Join(dir, "timeline"), 0o700); err != nil {
				t.Fatal(err)
			}
			appendRaw(t, filepath.Join(dir, name), "") // there, and empty
			l := buffered(t, dir, 0)
			next, _ := pull(t, l, timeline.FollowOptions{Poll: -time.Millisecond})
			empty := wantMark(t, next)
			appendRaw(t, filepath.Join(dir, name), `{"kind":"sent","mid":"a"}`+"\n"+`{"kind":"sent","mid":"b"}`+"\n")
			first := next()
			wantEvents(t, next, 1, 1)
			for c, want := range map[timeline.Cursor]int{empty: 2, first.Next: 1} {
				n := 0
				for _, err := range l.From(t.Context(), c) {
					if n++; err != nil {
						t.Error(err)
					}
				}
				if n != want {
					t.Errorf("got %d events, want %d", n, want)
				}
			}
			appendAll(t, l, message(2))
			wantEvents(t, next, 2, 1)
		})
	}
}

func TestFollowReportsBadLines(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 0)
	appendAll(t, l, message(0))
	appendRaw(t, newest(t, dir), "garbage\n")
	appendAll(t, l, message(1))
	var got []string
	for u, err := range l.Follow(t.Context(), timeline.FollowOptions{}) {
		switch {
		case errors.Is(err, timeline.ErrCorrupt):
			got = append(got, "bad")
		case err != nil:
			t.Fatal(err)
		case !u.CaughtUp:
			got = append(got, u.Event.MID)
		}
		if u.CaughtUp {
			break
		}
	}
	if len(got) != 3 || got[0] != "m0" || got[1] != "bad" || got[2] != "m1" {
		t.Errorf("got %v, want m0, bad, m1", got)
	}
}

// finish runs a follower to its end and returns the error that ended it.
func finish(l *timeline.Log, ctx context.Context, o timeline.FollowOptions, marked func()) (last error) {
	for u, err := range l.Follow(ctx, o) {
		if u.CaughtUp {
			marked()
		}
		last = err
	}
	return last
}

func TestFollowEnds(t *testing.T) {
	for _, wait := range waits {
		t.Run("with its context, "+wait.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			l := buffered(t, newDir(t), 0)
			if err := finish(l, ctx, timeline.FollowOptions{Poll: wait.poll}, cancel); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
		})
		t.Run("with its directory, "+wait.name, func(t *testing.T) {
			dir := newDir(t)
			l := buffered(t, dir, 0)
			appendAll(t, l, message(0))
			remove := func() {
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			}
			if err := finish(l, t.Context(), timeline.FollowOptions{Poll: wait.poll}, remove); !errors.Is(err, timeline.ErrClosed) {
				t.Errorf("got %v, want %v", err, timeline.ErrClosed)
			}
		})
	}
	t.Run("with its directory renamed", func(t *testing.T) {
		dir := newDir(t)
		l := buffered(t, dir, 0)
		appendAll(t, l, message(0))
		rename := func() {
			if err := os.Rename(dir, dir+".old"); err != nil {
				t.Error(err)
			}
		}
		if err := finish(l, t.Context(), timeline.FollowOptions{Poll: time.Millisecond}, rename); !errors.Is(err, timeline.ErrClosed) {
			t.Errorf("got %v, want %v", err, timeline.ErrClosed)
		}
	})
}
