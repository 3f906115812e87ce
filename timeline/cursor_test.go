package timeline_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

func TestCursorText(t *testing.T) {
	for _, c := range []timeline.Cursor{
		timeline.NewCursor("s1", segment.Epoch{1, 2, 3}, 7),
		timeline.NewCursor("", segment.Epoch{}, 0),
		timeline.NewCursor(strings.Repeat("ü", 1000), segment.Epoch{255}, 1<<64-1),
	} {
		got, err := timeline.ParseCursor(c.String())
		if err != nil || got != c {
			t.Errorf("got %v, %v, want %v", got, err, c)
		}
		raw, err := json.Marshal(map[string]timeline.Cursor{"next": c})
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]timeline.Cursor
		if err := json.Unmarshal(raw, &back); err != nil || back["next"] != c {
			t.Errorf("through JSON: got %v, %v, want %v", back, err, c)
		}
		if strings.ContainsAny(c.String(), "+/=&?% \n") {
			t.Errorf("%q is not safe in a URL", c)
		}
	}
}

func TestMalformedCursor(t *testing.T) {
	good := timeline.NewCursor("s1", segment.Epoch{1, 2, 3}, 7).String()
	texts := []string{"", "0", "next", "null", good + "A", good + "\n", good[:8] + "\r\n" + good[8:], " " + good, good + "=", strings.Repeat("A", 1<<20)}
	for i := range good {
		texts = append(texts, good[:i], good[:i]+good[i+1:])
		for _, c := range "Ab0-_" {
			if byte(c) != good[i] {
				texts = append(texts, good[:i]+string(c)+good[i+1:])
			}
		}
	}
	for _, text := range texts {
		if c, err := timeline.ParseCursor(text); !errors.Is(err, timeline.ErrMalformedCursor) || !c.IsZero() {
			t.Fatalf("%q: got %v, %v, want %v", text, c, err, timeline.ErrMalformedCursor)
		}
	}
	var c timeline.Cursor
	if err := c.UnmarshalText(nil); !errors.Is(err, timeline.ErrMalformedCursor) {
		t.Errorf("empty text: got %v, want %v", err, timeline.ErrMalformedCursor)
	}
}

// Each cursor that does not fit has its own error, and none restarts from zero.
func TestCursorThatDoesNotFit(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 0)
	empty, err := l.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := appendAll(t, l, message(0), message(1))

	renamed, err := timeline.Open(dir, timeline.Options{Session: "s2", Buffered: true})
	if err != nil {
		t.Fatal(err)
	}
	defer renamed.Close()
	foreign, err := renamed.End(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	other := buffered(t, newDir(t), 0) // the same name, another log
	w2 := appendAll(t, other, message(0), message(1), message(2))

	for _, tt := range []struct {
		name string
		c    timeline.Cursor
		want error
		n    int // events from there
	}{
		{"zero value", timeline.Cursor{}, timeline.ErrMalformedCursor, 0},
		{"other session", foreign, timeline.ErrForeignCursor, 0},
		{"other log of the session", w2.First, timeline.ErrForeignCursor, 0},
		{"other log, past the end", w2.Next, timeline.ErrForeignCursor, 0},
		{"start of the log when it was empty", empty, nil, 2},
		{"before the first", w.First, nil, 2},
		{"at the end", w.Next, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) { useCursor(t, l, tt.c, tt.want, tt.n) })
	}
	if _, err := l.CursorAt(t.Context(), 3); !errors.Is(err, timeline.ErrFutureCursor) {
		t.Errorf("CursorAt past the end: got %v, want %v", err, timeline.ErrFutureCursor)
	}
}

// useCursor reads and follows from c, and wants n events or an error.
func useCursor(t *testing.T, l *timeline.Log, c timeline.Cursor, want error, events int) {
	t.Helper()
	n := 0
	var got error
	for _, err := range l.From(t.Context(), c) {
		if got = err; err == nil {
			n++
		}
	}
	if !errors.Is(got, want) || n != events {
		t.Errorf("From: got %d events, %v, want %d, %v", n, got, events, want)
	}
	for _, err := range l.Follow(t.Context(), timeline.FollowOptions{Mode: timeline.After, After: c}) {
		if !errors.Is(err, want) {
			t.Errorf("Follow: got %v, want %v", err, want)
		}
		break
	}
}

func TestCursorIntoALogThatShrank(t *testing.T) {
	dir := newDir(t)
	w := appendAll(t, buffered(t, dir, 0), message(0), message(1))
	if err := os.Truncate(newest(t, dir), 0); err != nil {
		t.Fatal(err)
	}
	for _, err := range buffered(t, dir, 0).From(t.Context(), w.Next) {
		if err == nil {
			t.Error("a cursor into the lost part was accepted")
		}
	}
}

func TestCursorIsPastTheEnd(t *testing.T) {
	dir := newDir(t)
	copied := filepath.Join(t.TempDir(), "s1")
	l := buffered(t, dir, 0)
	appendAll(t, l, message(0))
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	w := appendAll(t, l, message(1))
	old := buffered(t, copied, 0) // a backup that was put back
	for _, err := range old.From(t.Context(), w.Next) {
		if !errors.Is(err, timeline.ErrFutureCursor) {
			t.Errorf("got %v, want %v", err, timeline.ErrFutureCursor)
		}
	}
}
