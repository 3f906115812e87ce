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
