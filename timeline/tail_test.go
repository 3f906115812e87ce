package timeline_test

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/docket-go/docket/timeline"
)

// tailInto reads the last n events into page, which must then be what Tail returns.
func tailInto(t *testing.T, l *timeline.Log, page *timeline.Page, n int) {
	t.Helper()
	want, err := l.Tail(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.TailInto(t.Context(), page, n); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(page.Events, want.Events) || page.Next != want.Next || len(page.Bad) != len(want.Bad) {
		t.Fatalf("the last %d: got %+v, want %+v", n, *page, want)
	}
}

// appendMessages appends the messages of those numbers.
func appendMessages(t *testing.T, l *timeline.Log, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		appendAll(t, l, message(i))
	}
}

// Whatever a page was before, it becomes what Tail returns.
func TestTailIntoAPageOf(t *testing.T) {
	l := buffered(t, newDir(t), 0)
	appendMessages(t, l, 0, 10)
	longer := buffered(t, newDir(t), 0)
	appendMessages(t, longer, 0, 30)
	page := func(l *timeline.Log, n int) timeline.Page {
		page, err := l.Tail(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	for _, tt := range []struct {
		name string
		page timeline.Page
	}{
		{"nothing", timeline.Page{}},
		{"fewer events", page(l, 2)},
		{"as many", page(l, 5)},
		{"more", page(l, 8)},
		{"a log that is longer", page(longer, 5)},
		{"a log that overlaps with it", timeline.Page{Events: page(longer, 30).Events[:12]}},
		{"events that were never read", timeline.Page{Events: []timeline.Event{{Seq: 7, Text: "x"}, {Seq: 3, Note: "y"}}}},
		{"bad lines", timeline.Page{Bad: []*timeline.LineError{{Path: "x"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tailInto(t, l, &tt.page, 5)
			tailInto(t, l, &tt.page, 3)
			tailInto(t, l, &tt.page, 0)
			tailInto(t, l, &tt.page, 20)
		})
	}
}

// The text of an event that the page has is not copied again, wherever in the page it
// stands by now.
func TestTailIntoKeepsWhatIsThere(t *testing.T) {
	l := buffered(t, newDir(t), 0)
	appendMessages(t, l, 0, 20)
	var page timeline.Page
	tailInto(t, l, &page, 10)
	for _, more := range []int{0, 1, 3} {
		was := slices.Clone(page.Events)
		events := unsafe.SliceData(page.Events)
		end := int(was[len(was)-1].Seq) + 1
		appendMessages(t, l, end, end+more)
		tailInto(t, l, &page, 10)
		if unsafe.SliceData(page.Events) != events {
			t.Errorf("%d more: the events have new memory", more)
		}
		for i, e := range was[more:] {
			if got := page.Events[i]; unsafe.StringData(got.Text) != unsafe.StringData(e.Text) {
				t.Errorf("%d more: event %d was copied again", more, got.Seq)
			}
		}
	}
}

// What the caller does to the events of a page is not taken for what the log says, and
// events that were copied out of it stay.
func TestTailIntoReadsTheLog(t *testing.T) {
	l := buffered(t, newDir(t), 0)
	appendMessages(t, l, 0, 3)
	var page timeline.Page
	tailInto(t, l, &page, 3)
	kept := slices.Clone(page.Events)
	for i := range page.Events {
		page.Events[i].Text, page.Events[i].Note, page.Events[i].ReplyVia = "changed", "changed", timeline.Note
	}
	tailInto(t, l, &page, 3)
	if !slices.Equal(page.Events, kept) {
		t.Errorf("got %+v, want %+v", page.Events, kept)
	}
	appendMessages(t, l, 3, 9)
	tailInto(t, l, &page, 3)
	for i, e := range kept {
		if want := message(i); e.MID != want.MID || e.Text != want.Text {
			t.Errorf("the copy of event %d became %+v", i, e)
		}
	}
}

// A page that got smaller does not hold the text of what it lost.
func TestTailIntoLetsGo(t *testing.T) {
	l := buffered(t, newDir(t), 0)
	appendMessages(t, l, 0, 10)
	var page timeline.Page
	for _, n := range []int{10, 4, 0} {
		tailInto(t, l, &page, n)
		for i, e := range page.Events[:cap(page.Events)] {
			if i >= n && e != (timeline.Event{}) {
				t.Errorf("of %d: %+v is still there", n, e)
			}
		}
	}
}

// A page that gets one event at a time holds little more than its text, though each of
// them was once the only new one.
func TestTailIntoSharesLittleMemory(t *testing.T) {
	l := buffered(t, newDir(t), 0)
	var page timeline.Page
	const events = 300
	before := heapBytes()
	for i := range events {
		appendMessages(t, l, i, i+1)
		if err := l.TailInto(t.Context(), &page, events); err != nil {
			t.Fatal(err)
		}
	}
	if got, most := heapBytes()-before, int64(events*4<<10); got > most {
		t.Errorf("%d events hold %d bytes, want at most %d", len(page.Events), got, most)
	}
	runtime.KeepAlive(page)
}

// heapBytes is what is in use.
func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestTailIntoOfAGoneDirectory(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 0)
	appendMessages(t, l, 0, 3)
	var page timeline.Page
	tailInto(t, l, &page, 3)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := l.TailInto(t.Context(), &page, 3); !errors.Is(err, timeline.ErrClosed) || len(page.Events) > 0 || page.Next != (timeline.Cursor{}) {
		t.Errorf("got %+v, %v, want an empty page and %v", page, err, timeline.ErrClosed)
	}
}
