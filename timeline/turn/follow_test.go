package turn_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/turn"
)

// pull starts a follower whose updates are taken one by one. next fails the test on
// an error.
func pull(t *testing.T, updates iter.Seq2[turn.Update, error]) (next func() turn.Update) {
	t.Helper()
	raw, stop := iter.Pull2(updates)
	t.Cleanup(stop)
	return func() turn.Update {
		t.Helper()
		u, err, ok := raw()
		if err != nil || !ok {
			t.Fatalf("got %v, %v, want an update", err, ok)
		}
		return u
	}
}

func wantEvent(t *testing.T, next func() turn.Update, seq uint64) turn.Update {
	t.Helper()
	u := next()
	if u.CaughtUp || u.Event.Seq != seq || u.Next != u.Event.Next {
		t.Fatalf("got %+v, want event %d", u, seq)
	}
	return u
}

func wantMark(t *testing.T, next func() turn.Update) timeline.Cursor {
	t.Helper()
	u := next()
	if !u.CaughtUp || u.Event.Payload != nil {
		t.Fatalf("got %+v, want the mark", u)
	}
	return u.Next
}

// logs are the ways to read: beside the writer, told by the system, and by looking.
var logs = []struct {
	name string
	of   func(t *testing.T, w *turn.Writer, dir string) *turn.Log
}{
	{"of the writer", func(_ *testing.T, w *turn.Writer, _ string) *turn.Log { return w.Log() }},
	{"notified", func(t *testing.T, _ *turn.Writer, dir string) *turn.Log { return readEvery(t, dir, time.Hour) }},
	{"polling", func(t *testing.T, _ *turn.Writer, dir string) *turn.Log { return readEvery(t, dir, -time.Millisecond) }},
}

func readEvery(t *testing.T, dir string, poll time.Duration) *turn.Log {
	t.Helper()
	l, err := turn.Read(dir, turn.ReadOptions{Poll: poll})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// History reaches the end; Follow crosses from history to live without a gap, by one
// mark; Tail sees only what is committed after it was asked for. All of it over many
// rotations, and from before the first event.
func TestHistoryFollowAndTail(t *testing.T) {
	for _, way := range logs {
		t.Run(way.name, func(t *testing.T) {
			dir := newDir(t)
			w := open(t, dir, func(o *turn.Options) { o.SegmentBytes = 600 })
			l := way.of(t, w, dir)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			early := pull(t, l.Follow(ctx, cursor(t, l.Start)))
			earlyTail := pull(t, l.Tail(ctx))
			wantMark(t, early)
			wantMark(t, earlyTail)
			tn := start(t, w, turn.Started{})
			for i := range 20 {
				emit(t, tn, turn.Text{Text: fmt.Sprint("before ", i)})
			}
			follow := pull(t, l.Follow(ctx, cursor(t, l.Start)))
			tail := l.Tail(ctx) // what comes between the call and the first step belongs to it
			emit(t, tn, turn.Text{Text: "after"})
			seq := uint64(0)
			for range l.History(ctx, cursor(t, l.Start)) {
				seq++
			}
			if seq != 22 {
				t.Errorf("history has %d events, want 22", seq)
			}
			live := pull(t, tail)
			wantMark(t, live)
			wantEvent(t, live, 21)
			for i := range seq {
				wantEvent(t, follow, i)
			}
			if c := wantMark(t, follow); c != cursor(t, l.End) {
				t.Errorf("got the mark at %v, want the end of history", c)
			}
			for range 20 {
				emit(t, tn, turn.Text{Text: "live"})
				wantEvent(t, follow, seq)
				wantEvent(t, live, seq)
				seq++
			}
			for i := range seq {
				wantEvent(t, early, i)
				wantEvent(t, earlyTail, i)
			}
		})
	}
}

// A follower that waits is told of news, by the writer or by the system, or looks.
func TestFollowersAreToldOfNews(t *testing.T) {
	for _, way := range logs {
		t.Run(way.name, func(t *testing.T) {
			dir := newDir(t)
			w := open(t, dir, func(o *turn.Options) { o.SegmentBytes = 400 })
			l := way.of(t, w, dir)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			seen := make(chan uint64)
			updates := l.Tail(ctx)
			go func() {
				defer close(seen)
				for u, err := range updates {
					if err != nil && ctx.Err() == nil {
						t.Error(err)
					}
					if err == nil && !u.CaughtUp {
						seen <- u.Event.Seq
					}
				}
			}()
			tn := start(t, w, turn.Started{})
			if got := <-seen; got != 0 {
				t.Fatalf("got event %d, want 0", got)
			}
			for i := range uint64(10) {
				eventually(t, "the follower waits", func() bool {
					const waiting = "turn.(*follower).wait("
					return parked(waiting, "[select") || parked(waiting, "[IO wait")
				})
				emit(t, tn, turn.Text{Text: "news"})
				if got, ok := <-seen; !ok || got != i+1 {
					t.Fatalf("got event %d, %v, want %d", got, ok, i+1)
				}
			}
			cancel()
			for range seen {
				t.Error("an event that nobody wrote")
			}
		})
	}
}

// The mark comes where history ended when the follower began, also when there are
// always new events.
func TestFollowMarksTheEndOfHistory(t *testing.T) {
	for _, way := range logs {
		dir := newDir(t)
		w := open(t, dir)
		l := way.of(t, w, dir)
		tn := start(t, w, turn.Started{})
		emit(t, tn, turn.Text{})
		emit(t, tn, turn.Text{})
		n := 0
		for u, err := range l.Follow(t.Context(), cursor(t, l.Start)) {
			if err != nil {
				t.Fatal(err)
			}
			if u.CaughtUp || n > 5 {
				break
			}
			emit(t, tn, turn.Text{})
			n++
		}
		if n != 3 {
			t.Errorf("%s: the mark came after %d events, want 3", way.name, n)
		}
	}
}

// Consumers that take nothing, and some that went away in the middle, hold up neither
// the producer nor the finish nor the barrier.
func TestSlowAndDeadConsumersBlockNobody(t *testing.T) {
	dir := newDir(t)
	cleared := 0
	w := open(t, dir, withBarrier(func(context.Context, turn.Event) error { cleared++; return nil }))
	tn := start(t, w, turn.Started{})
	stuck := make(chan struct{})
	var followers, running sync.WaitGroup
	ends := make([]uint64, 4)
	for i := range ends {
		l := []*turn.Log{w.Log(), read(t, dir)}[i%2]
		from := cursor(t, l.Start)
		running.Add(1)
		followers.Go(func() {
			for u, err := range l.Follow(t.Context(), from) {
				if err != nil {
					t.Error(err)
					return
				}
				if u.Event.Seq == 0 && !u.CaughtUp {
					running.Done()
					if i >= 2 {
						return // dead
					}
					<-stuck // slow
				}
				if ends[i] = u.Event.Seq; u.Event.Payload == success {
					return
				}
			}
		})
	}
	running.Wait()
	for i := range 2000 {
		emit(t, tn, turn.Text{Text: fmt.Sprint(i)})
	}
	finish(t, tn, success)
	if cleared != 1 {
		t.Errorf("got %d barriers, want one", cleared)
	}
	start(t, w, turn.Started{})
	close(stuck)
	followers.Wait()
	if ends[0] != 2001 || ends[1] != 2001 {
		t.Errorf("the slow consumers ended at %v, want all events to reach them", ends[:2])
	}
}

// An event is durable before a reader of the writer's log sees it.
func TestAppendComesBeforeNotification(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir)
	tn := start(t, w, turn.Started{})
	next := pull(t, w.Log().Follow(t.Context(), cursor(t, w.Log().Start)))
	wantEvent(t, next, 0)
	wantMark(t, next)

	syncing, synced := make(chan struct{}), make(chan struct{})
	w.Trouble(turn.Trouble{Sync: func() error { close(syncing); <-synced; return nil }})
	var emitted sync.WaitGroup
	emitted.Go(func() {
		if _, err := tn.Emit(t.Context(), none, turn.Text{Text: "x"}); err != nil {
			t.Error(err)
		}
	})
	<-syncing // it is written, and not durable
	if n := len(history(t, dir)); n != 2 {
		t.Fatalf("the file has %d events, want the new one in it", n)
	}
	n := 0
	for range w.Log().History(t.Context(), cursor(t, w.Log().Start)) {
		n++
	}
	if end := cursor(t, w.Log().End); n != 1 || end.Seq() != 1 {
		t.Errorf("a reader saw %d events and the end at %d before the sync, want 1", n, end.Seq())
	}
	ahead := timeline.NewCursor("s1", epochOf(t, dir), 2)
	wantFrom(t, w.Log(), ahead, 2, 0, timeline.ErrFutureCursor)
	close(synced)
	wantEvent(t, next, 1)
	emitted.Wait()
	wantFrom(t, w.Log(), ahead, 2, 0, nil)
}

// The turns of a session go with its directory, all at once, and everybody is told.
func TestPruningTheSessionEndsItsTurns(t *testing.T) {
	for _, way := range logs[1:] {
		dir := newDir(t)
		w := open(t, dir)
		tn := start(t, w, turn.Started{})
		l := readEvery(t, dir, -time.Millisecond)
		var ended error
		var seen []turn.Event
		var follower, marked sync.WaitGroup
		marked.Add(1)
		from := cursor(t, l.Start)
		follower.Go(func() { ended = followInto(l, from, &seen, marked.Done) })
		marked.Wait()
		if err := os.Rename(dir, dir+".gone"); err != nil {
			t.Fatal(err)
		}
		follower.Wait()
		if !errors.Is(ended, timeline.ErrClosed) {
			t.Errorf("%s: the follower ended with %v, want %v", way.name, ended, timeline.ErrClosed)
		}
		if _, err := tn.Emit(t.Context(), none, turn.Text{}); !errors.Is(err, turn.ErrFaulted) || !errors.Is(err, timeline.ErrClosed) {
			t.Errorf("got %v, want %v for %v", err, turn.ErrFaulted, timeline.ErrClosed)
		}
		if _, err := turn.Open(t.Context(), dir, turn.Options{}); !errors.Is(err, timeline.ErrClosed) {
			t.Errorf("got %v, want %v", err, timeline.ErrClosed)
		}
		if _, err := turn.Read(dir, turn.ReadOptions{}); !errors.Is(err, timeline.ErrClosed) {
			t.Errorf("got %v, want %v", err, timeline.ErrClosed)
		}
	}
}

// The message of a turn leads to its latest turn. Tokens are for the writer alone.
func TestAnswersAndTokens(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir, func(o *turn.Options) { o.SegmentBytes = 500 })
	for i := range 12 {
		tn := start(t, w, turn.Started{MID: fmt.Sprint("m", i%4), Token: "secret", Attributes: map[string]string{"i": fmt.Sprint(i)}})
		finish(t, tn, success)
	}
	if _, err := w.Log().Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, l := range []*turn.Log{w.Log(), read(t, dir)} {
		for i := range 4 {
			e, ok, err := l.Answers(t.Context(), fmt.Sprint("m", i))
			if err != nil || !ok || e.TurnNumber() != uint64(9+i) {
				t.Errorf("m%d: got turn %d, %v, %v, want %d", i, e.TurnNumber(), ok, err, 9+i)
			}
		}
		if _, ok, err := l.Answers(t.Context(), "m9"); ok || err != nil {
			t.Errorf("got %v, %v, want no turn for m9", ok, err)
		}
	}
	for _, e := range history(t, dir) {
		if s, ok := e.Payload.(turn.Started); ok && s.Token != "" {
			t.Fatalf("a reader got the token %q", s.Token)
		}
	}
	if last, _ := w.Last(); last.Token() != "secret" || last.Started().Payload.(turn.Started).Token != "" {
		t.Errorf("got token %q, want it for the writer alone", last.Token())
	}
}
