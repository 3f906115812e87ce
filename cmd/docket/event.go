package main

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/docket-go/docket/timeline"
)

// displayWord is the word for a status, and a dash where nothing was declared.
func displayWord(status, proposal string) string {
	if status == "" {
		return "-"
	}
	return timeline.DisplayWord(status, proposal)
}

// eventLine returns the event as stored, less private fields, with its display
// word and the cursor behind it, and with the session where that is not empty.
func eventLine(session string, e timeline.Event, next timeline.Cursor) ([]byte, error) {
	added := struct {
		Session string          `json:"session,omitempty"`
		Display string          `json:"display,omitempty"`
		Cursor  timeline.Cursor `json:"cursor"`
	}{session, e.Display(), next}
	tail, err := encode(added)
	if err != nil {
		return nil, err
	}
	stored := bytes.TrimSuffix(bytes.TrimSpace(e.JSON()), []byte("}"))
	return slices.Concat(stored, []byte(","), tail[1:]), nil
}

// eventBlock returns the event for people.
func eventBlock(session string, e timeline.Event) string {
	head := when(e.Time) + "  "
	if session != "" {
		head += session + "  "
	}
	text := e.Note
	switch e.Kind {
	case timeline.KindSent:
		head += sender(e.From) + " says"
		if e.Via() == timeline.Note {
			head += " (answer by note)"
		}
		head += "  " + e.MID
		text = e.Text
	default:
		head += displayWord(e.Status, e.Proposal)
	}
	head = oneLine(head) + "\n"
	if text == "" {
		return head
	}
	return head + indent(plain(text), "    ") + "\n"
}

func sender(from string) string {
	if from == "" {
		return "human"
	}
	return from
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
