package timeline_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
)

// Appends at the same time share one write, each learns where its own entries are, and
// one that is refused disturbs no other.
func TestAppendsTogether(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 4000)
	hold := holdRecord(t, dir)
	var writes atomic.Int64
	restore := step.Hook(func(name string) {
		if name == "segment: appended" {
			writes.Add(1)
		}
	})
	defer restore()
	const callers = 60
	var all sync.WaitGroup
	for i := range callers {
		all.Go(func() {
			name := fmt.Sprint("m", i)
			entries := []timeline.Entry{timeline.Settled{MID: name}, timeline.Sent{MID: name, Text: "go"}, timeline.Status{Status: "active", Note: name}}
			if i%10 == 3 {
				entries[1] = timeline.Sent{MID: name, Text: "\xff"}
			}
			w, err := l.Append(t.Context(), entries...)
			switch {
			case i%10 == 3:
				if !errors.Is(err, timeline.ErrText) {
					t.Errorf("%s: got %v, want %v", name, err, timeline.ErrText)
				}
			case err != nil || w.NextSeq != w.FirstSeq+2 || w.First.Seq() != w.FirstSeq || w.Next.Seq() != w.NextSeq:
				t.Errorf("%s: got %+v, %v", name, w, err)
			default:
				checkOwn(t, l, w, name)
			}
		})
	}
	poll(t, "all of them wait", func() bool { return l.Together() == callers })
	must(t, hold.Release())
	all.Wait()
	if n := writes.Load(); n > 2 {
		t.Errorf("got %d writes, want all that waited in one, and at most one before it", n)
	}
	if end, err := l.End(t.Context()); err != nil || end.Seq() != 2*(callers-callers/10) {
		t.Errorf("got %d events, %v", end.Seq(), err)
	}
}

// checkOwn looks whether the two events at w are those of name.
func checkOwn(t *testing.T, l *timeline.Log, w timeline.Written, name string) {
	n := 0
	for e, err := range l.From(t.Context(), w.First) {
		if err != nil || e.MID+e.Note != name {
			t.Errorf("%s: got %+v, %v", name, e, err)
		}
		if n++; n == 2 {
			return
		}
	}
	t.Errorf("%s: its events are not there", name)
}

// Those who come while a sync is under way share the next write and the next sync.
func TestAppendsDuringSync(t *testing.T) {
	l, err := timeline.Open(newDir(t), timeline.Options{})
	must(t, err)
	defer l.Close()
	var writes, syncs atomic.Int64
	syncing, resume := make(chan struct{}), make(chan struct{})
	restore := step.Hook(func(name string) {
		switch name {
		case "segment: appended":
			writes.Add(1)
		case "timeline: written, not synced":
			if syncs.Add(1) == 1 {
				close(syncing)
				<-resume
			}
		}
	})
	defer restore()
	var all sync.WaitGroup
	appending := func() {
		if _, err := l.Append(t.Context(), timeline.Status{Status: "active"}); err != nil {
			t.Error(err)
		}
	}
	all.Go(appending)
	<-syncing
	const others = 20
	for range others {
		all.Go(appending)
	}
	poll(t, "the others wait", func() bool { return l.Together() == 1+others })
	close(resume)
	all.Wait()
	if writes.Load() != 2 || syncs.Load() != 2 {
		t.Errorf("got %d writes and %d syncs, want 2 and 2", writes.Load(), syncs.Load())
	}
	if end, err := l.End(t.Context()); err != nil || end.Seq() != 1+others {
		t.Errorf("got %d events, %v", end.Seq(), err)
	}
}

// One that gives up has written nothing and stops nobody, be it the one that leads.
func TestAppendGivesUp(t *testing.T) {
	for _, leads := range []bool{true, false} {
		t.Run(fmt.Sprint("leads=", leads), func(t *testing.T) {
			dir := newDir(t)
			l := buffered(t, dir, 0)
			hold := holdRecord(t, dir)
			ctx, cancel := context.WithCancel(t.Context())
			results := map[bool]chan error{true: make(chan error, 1), false: make(chan error, 1)}
			for i, gives := range []bool{leads, !leads} {
				go func() {
					ctx := ctx
					if !gives {
						ctx = t.Context()
					}
					_, err := l.Append(ctx, timeline.Status{Status: "active", Note: fmt.Sprint(gives)})
					results[gives] <- err
				}()
				poll(t, "it waits", func() bool { return l.Together() == i+1 })
			}
			cancel()
			if err := <-results[true]; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
			must(t, hold.Release())
			must(t, <-results[false])
			if page, err := l.Tail(t.Context(), 10); err != nil || len(page.Events) != 1 || page.Events[0].Note != "false" {
				t.Errorf("got %+v, %v", page.Events, err)
			}
		})
	}
}

// All who waited as long as the one that leads get what it gets.
func TestAppendsTimeOutTogether(t *testing.T) {
	dir := newDir(t)
	l, err := timeline.Open(dir, timeline.Options{Buffered: true, LockWait: 50 * time.Millisecond})
	must(t, err)
	defer l.Close()
	hold := holdRecord(t, dir)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := l.Append(t.Context(), timeline.Status{Status: "active"}); !errors.Is(err, lock.ErrTimeout) {
				t.Errorf("got %v, want %v", err, lock.ErrTimeout)
			}
		})
	}
	all.Wait()
	must(t, hold.Release())
	if w, err := l.Append(t.Context(), timeline.Status{Status: "active"}); err != nil || w.FirstSeq != 0 {
		t.Errorf("afterwards: got %+v, %v", w, err)
	}
}

func holdRecord(t *testing.T, dir string) *lock.Record {
	t.Helper()
	locks, err := lock.Open(dir, lock.Options{})
	must(t, err)
	held, err := locks.Record(t.Context())
	must(t, err)
	t.Cleanup(func() { errors.Join(held.Release(), locks.Close()) })
	return held
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// poll asks until ok is true, and fails after a minute.
func poll(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	late := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// An entry that is none is refused like any other that cannot be stored, and the log goes
// on.
func TestNoEntryIsRefused(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 0)
	for name, entries := range map[string][]timeline.Entry{"alone": {nil}, "behind another": {message(0), nil}} {
		if _, err := l.Append(t.Context(), entries...); !errors.Is(err, timeline.ErrEntry) {
			t.Errorf("%s: got %v, want ErrEntry", name, err)
		}
	}
	appendAll(t, l, message(1))
	if events := all(t, l); len(events) != 1 {
		t.Errorf("got %d events, want the one that was whole", len(events))
	}
}
