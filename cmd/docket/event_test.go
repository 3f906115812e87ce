package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/timeline"
)

// Fields of other writers stay in the line, whatever they end in.
func TestEventLine(t *testing.T) {
	line, err := appendEventLine(nil, "s1", timeline.Event{Kind: timeline.KindStatus, Status: "active", Time: time.Unix(0, 0)}, timeline.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"ts":"1970-01-01T00:00:00.000Z","kind":"status","status":"active","proposal":null,"note":null,"session":"s1","display":"working","cursor":""}`
	if string(line) != want {
		t.Errorf("got  %s\nwant %s", line, want)
	}
}

// hostileEvent is one that another program may have written.
func hostileEvent() *rapid.Generator[timeline.Event] {
	return rapid.Custom(func(rt *rapid.T) timeline.Event {
		text := func(name string) string { return hostileText().Draw(rt, name) }
		return timeline.Event{
			Kind:   rapid.SampledFrom([]timeline.Kind{timeline.KindSent, timeline.KindStatus}).Draw(rt, "kind"),
			Status: text("status"), Proposal: text("proposal"), Note: text("note"),
			MID: text("mid"), From: text("from"), Text: text("text"),
			Time: rapid.SampledFrom([]time.Time{{}, time.Unix(0, 0), time.Unix(1e12, 0)}).Draw(rt, "time"),
		}
	})
}

// Whatever is in an event, what is added to its line means what it meant.
func TestEventLineOfAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := hostileEvent().Draw(rt, "event")
		session := rapid.SampledFrom([]string{"", "s1", `s"1`, "s\\\n1"}).Draw(rt, "session")
		line, err := appendEventLine(nil, session, e, timeline.Cursor{})
		if err != nil {
			rt.Fatal(err)
		}
		var got struct{ Session, Display, Cursor *string }
		if err := json.Unmarshal(line, &got); err != nil {
			rt.Fatalf("%s: %v", line, err)
		}
		display := string([]rune(e.Display())) // bytes that are no text cannot be in JSON
		if (got.Session != nil) != (session != "") || got.Session != nil && *got.Session != session {
			rt.Errorf("got %s, want session %q", line, session)
		}
		if (got.Display != nil) != (e.Display() != "") || got.Display != nil && *got.Display != display {
			rt.Errorf("got %s, want display %q", line, display)
		}
		if got.Cursor == nil {
			rt.Errorf("got %s, want a cursor", line)
		}
	})
}

// Nothing in a block acts on a terminal. Its first line is its head, and all others
// stand further in.
func TestBlockNeverActs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := hostileEvent().Draw(rt, "event")
		session := rapid.OneOf(rapid.Just(""), hostileText()).Draw(rt, "session")
		block := strings.TrimPrefix(string(appendBlock([]byte("before"), session, e)), "before")
		if acting := raw(block); acting != "" || plain(block) != block {
			rt.Fatalf("%q holds %q", block, acting)
		}
		head, text, _ := strings.Cut(block, "\n")
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "    ") || !strings.HasSuffix(line, "\n") {
				rt.Fatalf("%q has the line %q", block, line)
			}
		}
		if said := e.Kind == timeline.KindSent; !strings.Contains(head, "  ") || said && !strings.Contains(head, " says") {
			rt.Fatalf("got the head %q", head)
		}
	})
}

func TestBlock(t *testing.T) {
	at := time.Date(2026, 11, 2, 3, 4, 5, 0, time.FixedZone("", 3600))
	for _, tt := range []struct {
		name    string
		session string
		event   timeline.Event
		want    string
	}{
		{"a message", "", timeline.Event{Kind: timeline.KindSent, Time: at, MID: "m1", From: "lead", Text: "run\nthe tests\n"},
			"2026-11-02 02:04:05Z  lead says  m1\n    run\n    the tests\n"},
		{"of a human, of which the answer is a note", "s1", timeline.Event{Kind: timeline.KindSent, Time: at, MID: "m1", Text: "x", ReplyVia: timeline.Note},
			"2026-11-02 02:04:05Z  s1  human says (answer by note)  m1\n    x\n"},
		{"a declaration without a note", "", timeline.Event{Kind: timeline.KindStatus, Status: "active"}, "at an unknown time  working\n"},
		{"a head with a break", "", timeline.Event{Kind: timeline.KindSent, From: "a\nb", MID: "m1"}, "at an unknown time  a; b says  m1\n"},
		{"a text of breaks", "", timeline.Event{Kind: timeline.KindSent, MID: "m1", Text: "\n\n"}, "at an unknown time  human says  m1\n    \n"},
	} {
		if got := string(appendBlock(nil, tt.session, tt.event)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What is printed costs no memory, which a short process would have to get from the
// system first.
func TestBlockAllocatesNothing(t *testing.T) {
	c := &call{out: newOutput(io.Discard)}
	u := timeline.Update{Event: timeline.Event{Kind: timeline.KindSent, Time: time.Unix(0, 0), MID: "m1", Text: strings.Repeat("run the tests\n", 20)}}
	allocations := testing.AllocsPerRun(1000, func() {
		if err := c.event("s1", u); err != nil {
			t.Fatal(err)
		}
	})
	if allocations != 0 {
		t.Errorf("got %v allocations an event, want none", allocations)
	}
}
