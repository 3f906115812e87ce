package timeline_test

import (
	"testing"

	"github.com/docket-go/docket/timeline"
)

// The cursor after an event of a page is the one before the next event.
func TestCursorInsideAPage(t *testing.T) {
	l, err := timeline.Open(t.TempDir(), timeline.Options{Buffered: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, mid := range []string{"m1", "m2", "m3", "m4"} {
		if _, err := l.Append(t.Context(), timeline.Sent{MID: mid, Text: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	page, err := l.Tail(t.Context(), 3)
	if err != nil || len(page.Events) != 3 {
		t.Fatalf("got %d events, %v, want 3", len(page.Events), err)
	}
	for i, e := range page.Events {
		want, err := l.CursorAfter(t.Context(), e)
		if got := page.After(e); err != nil || got != want {
			t.Errorf("event %d: got %v, want %v, %v", i, got, want, err)
		}
	}
	if got := page.After(page.Events[2]); got != page.Next {
		t.Errorf("behind the last: got %v, want %v", got, page.Next)
	}
}

// What is appended is what is returned otherwise, and a cursor takes no memory where there
// is room.
func TestAppendToALine(t *testing.T) {
	l, err := timeline.Open(t.TempDir(), timeline.Options{Buffered: true})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Append(t.Context(), timeline.Sent{MID: "m1", Text: "run\nthe \"tests\"", NoDebt: true}); err != nil {
		t.Fatal(err)
	}
	page, err := l.Tail(t.Context(), 1)
	if err != nil || len(page.Events) != 1 {
		t.Fatalf("got %d events, %v, want 1", len(page.Events), err)
	}
	for _, e := range []timeline.Event{page.Events[0], {Kind: timeline.KindStatus, Status: "active"}} {
		if got, want := string(e.AppendJSON([]byte("["))), "["+string(e.JSON()); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for _, c := range []timeline.Cursor{page.Next, {}} {
		if got, err := c.AppendText([]byte("[")); err != nil || string(got) != "["+c.String() {
			t.Errorf("got %s, %v, want [%s", got, err, c)
		}
	}
	line := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		line, _ = page.Next.AppendText(line[:0])
	}); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}
