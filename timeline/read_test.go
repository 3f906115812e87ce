package timeline_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline"
)

func TestEmptyLog(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 0)
	if events := all(t, l); len(events) != 0 {
		t.Errorf("All: got %v", events)
	}
	page, err := l.Tail(t.Context(), 5)
	if start, startErr := l.Start(t.Context()); err != nil || startErr != nil || len(page.Events) != 0 || page.Next != start {
		t.Errorf("Tail: got %+v, %v, %v", page, err, startErr)
	}
	if _, ok, err := l.LastHuman(t.Context()); ok || err != nil {
		t.Errorf("LastHuman: got %v, %v", ok, err)
	}
	if _, ok, err := l.LastStatus(t.Context()); ok || err != nil {
		t.Errorf("LastStatus: got %v, %v", ok, err)
	}
	if _, ok, err := l.Fate(t.Context(), "m1"); ok || err != nil {
		t.Errorf("Fate: got %v, %v", ok, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("reading made %v, %v", entries, err)
	}
}

func TestEmptyFiles(t *testing.T) {
	dir := newDir(t)
	if err := os.Mkdir(filepath.Join(dir, "timeline"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"timeline.ndjson", "timeline/000000000001.ndjson", "timeline/000000000002.ndjson"} {
		appendRaw(t, filepath.Join(dir, name), "")
	}
	l := buffered(t, dir, 0)
	if events := all(t, l); len(events) != 0 {
		t.Errorf("got %v", events)
	}
	appendAll(t, l, message(0))
	if events := all(t, l); len(events) != 1 || events[0].Seq != 0 {
		t.Errorf("after an append: got %v", events)
	}
}

func TestGoneDirectory(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 0)
	appendAll(t, l, message(0))
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Tail(t.Context(), 1); !errors.Is(err, timeline.ErrClosed) {
		t.Errorf("Tail: got %v, want %v", err, timeline.ErrClosed)
	}
	if _, err := l.Append(t.Context(), message(1)); !errors.Is(err, timeline.ErrClosed) {
		t.Errorf("Append: got %v, want %v", err, timeline.ErrClosed)
	}
	for _, err := range l.All(t.Context()) {
		if !errors.Is(err, timeline.ErrClosed) {
			t.Errorf("All: got %v, want %v", err, timeline.ErrClosed)
		}
	}
	if _, err := timeline.Open(dir, timeline.Options{}); !errors.Is(err, timeline.ErrClosed) {
		t.Errorf("Open: got %v, want %v", err, timeline.ErrClosed)
	}
}

// Unreadable lines are reported with their place, and nothing behind them is lost.
func TestBadLines(t *testing.T) {
	bad := []string{"\x00\x00\x00\x00", "{", `{"kind":"sent","text":5}`, `"sent"`, "", strings.Repeat("[", 100_000), `{"ts":"2026-11-30T09:30:15.780Z","kind":"sent","text":"\ud8"}`}
	for _, raw := range bad {
		t.Run(raw[:min(len(raw), 20)], func(t *testing.T) {
			dir := newDir(t)
			l := buffered(t, dir, 0)
			appendAll(t, l, message(0))
			info, err := os.Stat(newest(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			appendRaw(t, newest(t, dir), raw+"\n")
			appendAll(t, l, message(1), message(2))

			var events []timeline.Event
			var faults []*timeline.LineError
			for e, err := range l.All(t.Context()) {
				if le := (*timeline.LineError)(nil); errors.As(err, &le) {
					faults = append(faults, le)
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				events = append(events, e)
			}
			if len(events) != 3 || events[2].Seq != 2 || events[2].MID != "m2" {
				t.Errorf("All: got %v", events)
			}
			page, err := l.Tail(t.Context(), 3)
			if err != nil || len(page.Events) != 3 || page.Events[0].MID != "m0" {
				t.Errorf("Tail: got %v, %v", page.Events, err)
			}
			for _, found := range [][]*timeline.LineError{faults, page.Bad} {
				if raw == "" && len(found) == 0 {
					continue // an empty line is nothing, and need not be reported
				}
				if len(found) != 1 || found[0].Path != newest(t, dir) || found[0].Offset != info.Size() || found[0].Err == nil || !errors.Is(found[0], timeline.ErrCorrupt) {
					t.Errorf("got faults %v, want one at byte %d", found, info.Size())
				}
			}
		})
	}
}

func TestBadLinesOfATailAreInOrder(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 0)
	appendAll(t, l, message(0))
	appendRaw(t, newest(t, dir), "one\ntwo\n")
	appendAll(t, l, message(1))
	page, err := l.Tail(t.Context(), 2)
	if err != nil || len(page.Bad) != 2 || page.Bad[0].Offset >= page.Bad[1].Offset {
		t.Errorf("got %v, %v, want two bad lines, the first first", page.Bad, err)
	}
}

func TestLargestTextIsReadTailedAndFollowed(t *testing.T) {
	l := buffered(t, newDir(t), 0)
	big := message(0)
	big.Text = strings.Repeat("a line of \"text\", \x01 and é\n", timeline.DefaultMaxTextBytes/29)
	w := appendAll(t, l, message(1), big, message(2))
	if events := all(t, l); len(events) != 3 || events[1].Text != big.Text {
		t.Error("All lost it")
	}
	page, err := l.Tail(t.Context(), 2)
	if err != nil || len(page.Events) != 2 || page.Events[0].Text != big.Text {
		t.Errorf("Tail lost it: %v", err)
	}
	for u, err := range l.Follow(t.Context(), timeline.FollowOptions{Mode: timeline.After, After: w.First}) {
		if err != nil || u.CaughtUp {
			break
		}
		if u.Event.Seq == 1 && u.Event.Text != big.Text {
			t.Error("Follow lost it")
		}
	}
}

func TestRefusedEntriesWriteNothing(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 0)
	for _, entries := range [][]timeline.Entry{
		{message(0), timeline.Sent{MID: "m1", Text: "\xff"}},
		{timeline.Sent{MID: "m1", Text: "a\x00b"}},
		{timeline.Sent{Text: "no mid"}},
		{timeline.Sent{MID: "m1", Text: strings.Repeat("x", timeline.DefaultMaxTextBytes+1)}},
	} {
		if _, err := l.Append(t.Context(), entries...); err == nil {
			t.Errorf("%T was accepted", entries)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "timeline")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	small, err := timeline.Open(dir, timeline.Options{MaxTextBytes: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	var tooLarge *timeline.TooLargeError
	if _, err := small.Append(t.Context(), timeline.Status{Note: "four"}); !errors.As(err, &tooLarge) || tooLarge.Bytes != 4 || tooLarge.Limit != 3 {
		t.Errorf("got %v, want 4 of at most 3 bytes", err)
	}
}

// Whoever reads an event, and wherever, gets one that is == to it.
func TestLastStatusIsTheEventThatOthersRead(t *testing.T) {
	l := buffered(t, newDir(t), 3000)
	same := func() {
		t.Helper()
		var want timeline.Event
		for e, err := range l.All(t.Context()) {
			must(t, err)
			if e.Kind == timeline.KindStatus {
				want = e
			}
		}
		if e, ok, err := l.LastStatus(t.Context()); err != nil || !ok || e != want {
			t.Errorf("got %+v, %v, %v, want %+v", e, ok, err, want)
		}
	}
	appendAll(t, l, timeline.Status{Status: "asking", Note: "which?"})
	same()
	for i := range 50 { // many segments
		appendAll(t, l, message(i))
	}
	same()
}
