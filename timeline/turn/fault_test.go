package turn_test

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/turn"
)

// followInto runs a follower until it ends, and tells the events and what ended it.
func followInto(l *turn.Log, from timeline.Cursor, events *[]turn.Event, marked func()) (last error) {
	for u, err := range l.Follow(context.Background(), from) {
		switch {
		case err != nil:
			last = err
		case u.CaughtUp:
			marked()
		default:
			*events = append(*events, u.Event)
		}
	}
	return last
}

// Each way in which an append can fail, at each kind of event: the log is faulted, the
// sequence is not used, everything later is refused, the followers of this process end
// with the error, the producer is stopped, and a new writer goes on from there.
func TestFailedAppendFaultsTheLog(t *testing.T) {
	full := func(func() error) error { return &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC} }
	for _, tt := range []struct {
		name    string
		trouble turn.Trouble
		cause   error
		inDoubt bool // the event may be in the file all the same
	}{
		{"the disk is full", turn.Trouble{Write: full}, syscall.ENOSPC, false},
		{"the write is cut short", turn.Trouble{Write: func(func() error) error { return io.ErrShortWrite }}, io.ErrShortWrite, false},
		{"the sync fails", turn.Trouble{Sync: func() error { return segment.ErrFaulted }}, segment.ErrFaulted, true},
		{"another writer got past the lock", turn.Trouble{Next: func(n uint64) (uint64, error) { return n + 1, nil }}, turn.ErrWriter, false},
		{"the end cannot be found", turn.Trouble{Next: func(uint64) (uint64, error) { return 0, syscall.EIO }}, syscall.EIO, false},
	} {
		for name, call := range writingCalls {
			t.Run(tt.name+"/"+name, func(t *testing.T) { failAppend(t, tt.trouble, tt.cause, tt.inDoubt, call) })
		}
	}
}

// writingCalls are the calls that append, on a writer whose turn is open. Start comes
// after a finish.
var writingCalls = map[string]func(w *turn.Writer, tn *turn.Turn) error{
	"Emit": func(_ *turn.Writer, tn *turn.Turn) error {
		_, err := tn.Emit(context.Background(), none, turn.Text{Text: "lost"})
		return err
	},
	"Publish": func(w *turn.Writer, _ *turn.Turn) error {
		_, err := w.Publish(context.Background(), none, turn.State{Name: "n"})
		return err
	},
	"Finish": func(_ *turn.Writer, tn *turn.Turn) error {
		_, err := tn.Finish(context.Background(), none, success)
		return err
	},
	"End": func(_ *turn.Writer, tn *turn.Turn) error {
		_, err := tn.End(context.Background(), none, gone)
		return err
	},
}

func failAppend(t *testing.T, trouble turn.Trouble, cause error, inDoubt bool, call func(*turn.Writer, *turn.Turn) error) {
	dir := newDir(t)
	var stopped []error
	var w *turn.Writer
	w = open(t, dir, func(o *turn.Options) {
		o.Faulted = func(err error) {
			stopped = append(stopped, err)
			if _, again := w.Publish(context.Background(), none, turn.State{Name: "x"}); !errors.Is(again, turn.ErrFaulted) {
				t.Errorf("inside the hook: got %v, want %v", again, turn.ErrFaulted)
			}
		}
	})
	tn := start(t, w, turn.Started{})
	emit(t, tn, turn.Text{Text: "kept"})
	before := history(t, dir)

	var seen []turn.Event
	var ended error
	var follower, marked sync.WaitGroup
	marked.Add(1)
	from := cursor(t, w.Log().Start)
	follower.Go(func() { ended = followInto(w.Log(), from, &seen, marked.Done) })
	marked.Wait()

	w.Trouble(trouble)
	if err := call(w, tn); !errors.Is(err, turn.ErrFaulted) || !errors.Is(err, cause) {
		t.Fatalf("got %v, want %v for %v", err, turn.ErrFaulted, cause)
	}
	w.Trouble(turn.Trouble{}) // the disk is well again, but the log stays faulted
	for name, later := range writingCalls {
		if err := later(w, tn); !errors.Is(err, turn.ErrFaulted) || !errors.Is(err, cause) {
			t.Errorf("%s after the fault: got %v, want %v for %v", name, err, turn.ErrFaulted, cause)
		}
	}
	if err := w.Ready(t.Context()); !errors.Is(err, turn.ErrFaulted) || !errors.Is(w.Err(), turn.ErrFaulted) {
		t.Errorf("Ready: got %v, want %v", err, turn.ErrFaulted)
	}
	if len(stopped) != 1 || !errors.Is(stopped[0], cause) {
		t.Errorf("the hook got %v, want one error for %v", stopped, cause)
	}
	follower.Wait()
	if !errors.Is(ended, turn.ErrFaulted) || len(seen) != len(before) {
		t.Errorf("the follower saw %q and ended with %v, want %q and %v", brief(seen), ended, brief(before), turn.ErrFaulted)
	}
	goOnAfterFault(t, dir, w, before, inDoubt)
}

// goOnAfterFault opens the log anew: the last committed sequence is preserved.
func goOnAfterFault(t *testing.T, dir string, w *turn.Writer, before []turn.Event, inDoubt bool) {
	t.Helper()
	closeWriter(t, w)
	if err := w.Err(); !errors.Is(err, turn.ErrFaulted) {
		t.Errorf("after Close: got %v, want the fault to stay", err)
	}
	next := open(t, dir)
	n := uint64(len(before))
	if inDoubt {
		n = uint64(len(history(t, dir)))
		if n < uint64(len(before)) || n > uint64(len(before))+1 {
			t.Fatalf("got %d events, want %d, and one in doubt", n, len(before))
		}
	}
	e, err := next.Publish(t.Context(), none, turn.State{Name: "n"})
	if err != nil || e.Seq != n {
		t.Errorf("got %+v, %v, want sequence %d", e, err, n)
	}
}

// A lock that cannot be had is an append that failed; a caller who gives up is not.
func TestRecordLockAndContext(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir, func(o *turn.Options) { o.LockWait = -1 })
	tn := start(t, w, turn.Started{})
	other, err := lock.Open(dir, lock.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	held, err := other.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("the caller left")
	ctx, cancel := context.WithCancelCause(t.Context())
	patient := make(chan error, 1)
	go func() {
		_, err := tn.Emit(ctx, none, turn.Text{})
		patient <- err
	}()
	eventually(t, "the emission waits for the lock", func() bool { return parked("turn.(*Turn).Emit(", "lock.(*Dir).Record(") })
	cancel(cause)
	if err := <-patient; !errors.Is(err, cause) || w.Err() != nil {
		t.Errorf("got %v, and %v for the writer, want %v and no fault", err, w.Err(), cause)
	}
	if _, err := tn.Emit(ctx, none, turn.Text{}); !errors.Is(err, cause) || w.Err() != nil {
		t.Errorf("got %v, and %v for the writer, want %v and no fault", err, w.Err(), cause)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	closeWriter(t, w)
	w = open(t, dir, func(o *turn.Options) { o.LockWait = time.Millisecond })
	tn, _ = w.Active()
	if held, err = other.Record(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := tn.Emit(t.Context(), none, turn.Text{}); !errors.Is(err, turn.ErrFaulted) || !errors.Is(err, lock.ErrTimeout) {
		t.Errorf("got %v, want %v for %v", err, turn.ErrFaulted, lock.ErrTimeout)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	wantLog(t, dir, "1:turn-started")
}

// What is refused for itself is no fault, and uses no sequence.
func TestRefusedEventsAreNoFault(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir, func(o *turn.Options) { o.MaxTextBytes = 10 })
	tn := start(t, w, turn.Started{})
	for _, tt := range []struct {
		name string
		p    turn.Emission
		n    turn.Native
		want error
	}{
		{"too large", turn.Text{Text: "12345678901"}, none, timeline.ErrTooLarge},
		{"too large a title", turn.Tool{Title: "12345678901", Status: turn.ToolDone}, none, timeline.ErrTooLarge},
		{"not UTF-8", turn.Thought{Text: "\xff"}, none, turn.ErrText},
		{"provenance not UTF-8", turn.Text{}, turn.Native{Item: "\xff"}, turn.ErrText},
		{"unknown status", turn.Tool{Status: "odd"}, none, turn.ErrEvent},
		{"no permission id", turn.Permission{State: turn.PermissionAsked}, none, turn.ErrEvent},
		{"too many options", turn.Permission{ID: "p", State: turn.PermissionAsked, Options: make([]string, 65)}, none, turn.ErrEvent},
		{"unknown severity", turn.Diagnostic{}, none, turn.ErrEvent},
	} {
		if _, err := tn.Emit(t.Context(), tt.n, tt.p); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := tn.Finish(t.Context(), none, turn.Finished{Outcome: "odd"}); !errors.Is(err, turn.ErrEvent) {
		t.Errorf("got %v, want %v", err, turn.ErrEvent)
	}
	for i := range turn.MaxStates + 1 {
		_, err := w.Publish(t.Context(), none, turn.State{Name: string(rune('A' + i))})
		if i < turn.MaxStates && err != nil || i == turn.MaxStates && !errors.Is(err, turn.ErrEvent) {
			t.Errorf("name %d: got %v", i, err)
		}
	}
	if e := emit(t, tn, turn.Text{Text: "1234567890"}); e.Seq != turn.MaxStates+1 {
		t.Errorf("got sequence %d, want %d", e.Seq, turn.MaxStates+1)
	}
}

// A random part that is none is refused, since the id would be refused by readers.
func TestBadNewIDIsRefused(t *testing.T) {
	w := open(t, newDir(t), func(o *turn.Options) { o.NewID = func() string { return "a b" } })
	if _, err := w.Start(t.Context(), turn.Started{}); !errors.Is(err, turn.ErrEvent) {
		t.Errorf("got %v, want %v", err, turn.ErrEvent)
	}
}

// After Close nothing is written, followers end, and the open turn waits for the next
// writer.
func TestClose(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir)
	tn := start(t, w, turn.Started{})
	var ended error
	var seen []turn.Event
	var follower, marked sync.WaitGroup
	marked.Add(1)
	from := cursor(t, w.Log().Start)
	follower.Go(func() { ended = followInto(w.Log(), from, &seen, marked.Done) })
	marked.Wait()
	closeWriter(t, w)
	closeWriter(t, w)
	follower.Wait()
	if !errors.Is(ended, turn.ErrWriterClosed) || len(seen) != 1 {
		t.Errorf("the follower saw %q and ended with %v, want %v", brief(seen), ended, turn.ErrWriterClosed)
	}
	for name, call := range writingCalls {
		if err := call(w, tn); !errors.Is(err, turn.ErrWriterClosed) {
			t.Errorf("%s: got %v, want %v", name, err, turn.ErrWriterClosed)
		}
	}
	again, ok := open(t, dir).Active()
	if !ok || again.ID() != tn.ID() {
		t.Errorf("got %+v, want turn %s to be open", again, tn.ID())
	}
}

// A start that is not recorded starts nothing; one whose sync failed may be found open
// by the next writer, as a turn that was never dispatched.
func TestStartThatFails(t *testing.T) {
	for _, tt := range []struct {
		name    string
		trouble turn.Trouble
		open    bool
	}{
		{"in its write", turn.Trouble{Write: func(func() error) error { return syscall.EIO }}, false},
		{"in its sync", turn.Trouble{Sync: func() error { return syscall.EIO }}, true},
	} {
		dir := newDir(t)
		w := open(t, dir)
		finish(t, start(t, w, turn.Started{}), success)
		w.Trouble(tt.trouble)
		if _, err := w.Start(t.Context(), turn.Started{}); !errors.Is(err, turn.ErrFaulted) || !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: got %v, want %v", tt.name, err, turn.ErrFaulted)
		}
		if _, err := w.Start(t.Context(), turn.Started{}); !errors.Is(err, turn.ErrFaulted) {
			t.Errorf("%s: again: got %v, want %v", tt.name, err, turn.ErrFaulted)
		}
		closeWriter(t, w)
		next := open(t, dir)
		tn, ok := next.Active()
		if ok != tt.open {
			t.Errorf("%s: got an open turn %v, want %v", tt.name, ok, tt.open)
		}
		if ok {
			finish(t, tn, gone)
		}
		if tn := start(t, next, turn.Started{}); (tn.Number() == 3) != tt.open {
			t.Errorf("%s: got turn %d next", tt.name, tn.Number())
		}
	}
}
