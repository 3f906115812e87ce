package turn_test

import (
	"errors"
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/turn"
)

// A durable cursor survives restart, rotation and sealing; one that does not fit is
// refused, each kind with its own error, and none starts again from zero.
func TestCursors(t *testing.T) {
	dir := newDir(t)
	small := func(o *turn.Options) { o.SegmentBytes = 600 }
	w := open(t, dir, small)
	empty := cursor(t, w.Log().Start)
	tn := start(t, w, turn.Started{})
	kept := map[string]uint64{} // by text: how many events come after it
	for i := range uint64(30) {
		kept[emit(t, tn, turn.Text{Text: "x"}).Next.String()] = i + 2
	}
	closeWriter(t, w)
	w = open(t, dir, small)
	if _, err := w.Log().Seal(t.Context()); err != nil {
		t.Fatal(err)
	}
	active, _ := w.Active()
	end := emit(t, active, turn.Text{Text: "y"}).Next

	for _, l := range []*turn.Log{w.Log(), read(t, dir)} {
		for text, seq := range kept {
			c, err := timeline.ParseCursor(text)
			if err != nil {
				t.Fatal(err)
			}
			wantFrom(t, l, c, seq, 32-seq, nil)
		}
		wantFrom(t, l, empty, 0, 32, nil)
		wantFrom(t, l, end, 32, 0, nil)
		wantFrom(t, l, timeline.Cursor{}, 0, 0, timeline.ErrMalformedCursor)
		epoch := epochOf(t, dir)
		wantFrom(t, l, timeline.NewCursor("s1", epoch, 33), 0, 0, timeline.ErrFutureCursor)
		wantFrom(t, l, timeline.NewCursor("s2", epoch, 1), 0, 0, timeline.ErrForeignCursor)
		wantFrom(t, l, timeline.NewCursor("s1", segment.Epoch{1}, 1), 0, 0, timeline.ErrForeignCursor)
	}
	other := newDir(t) // the same name, another life
	w2 := open(t, other)
	wantFrom(t, read(t, dir), start(t, w2, turn.Started{}).Started().Next, 0, 0, timeline.ErrForeignCursor)
	wantFrom(t, read(t, dir), timelineCursor(t, dir), 0, 0, timeline.ErrForeignCursor)
}

// wantFrom reads and follows from c: n events from seq on, or an error.
func wantFrom(t *testing.T, l *turn.Log, c timeline.Cursor, seq, n uint64, want error) {
	t.Helper()
	got, last := uint64(0), error(nil)
	for e, err := range l.History(t.Context(), c) {
		if last = err; err == nil && e.Seq != seq+got {
			t.Fatalf("from %d: got event %d, want %d", seq, e.Seq, seq+got)
		}
		if err == nil {
			got++
		}
	}
	if !errors.Is(last, want) || want == nil && last != nil || got != n {
		t.Errorf("History from %d: got %d events, %v, want %d, %v", seq, got, last, n, want)
	}
	for _, err := range l.Follow(t.Context(), c) {
		if !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("Follow from %d: got %v, want %v", seq, err, want)
		}
		break
	}
}

func epochOf(t *testing.T, dir string) segment.Epoch {
	t.Helper()
	log, err := segment.Open(dir, segment.Options{Dir: dir + "/turns", Schema: turn.Schema})
	if err != nil {
		t.Fatal(err)
	}
	v, err := log.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return v.Epoch()
}

// timelineCursor returns a cursor of the timeline of the same session.
func timelineCursor(t *testing.T, dir string) timeline.Cursor {
	t.Helper()
	l, err := timeline.Open(dir, timeline.Options{Buffered: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w, err := l.Append(t.Context(), timeline.Status{Status: "active"})
	if err != nil {
		t.Fatal(err)
	}
	return w.Next
}
