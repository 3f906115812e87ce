package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/docket-go/docket/timeline"
)

// noWord stands for the status of a session where nothing was declared.
const noWord = "-"

// displayWord is the word for a status, or noWord.
func displayWord(status, proposal string) string {
	if status == "" {
		return noWord
	}
	return timeline.DisplayWord(status, proposal)
}

// appendEventLine appends the event as stored, less private fields, with its display
// word and the cursor behind it, and with the session where that is not empty.
func appendEventLine(dst []byte, session string, e timeline.Event, next timeline.Cursor) (line []byte, err error) {
	line = bytes.TrimSuffix(e.AppendJSON(dst), []byte("}"))
	if session != "" {
		line, err = appendMember(line, "session", session)
	}
	if display := e.Display(); display != "" && err == nil {
		line, err = appendMember(line, "display", display)
	}
	if err != nil {
		return nil, err
	}
	line, err = next.AppendText(append(line, `,"cursor":"`...))
	return append(line, `"}`...), err
}

// appendMember appends a member to an object in JSON that has one already.
func appendMember(object []byte, name, value string) ([]byte, error) {
	object = append(append(append(object, `,"`...), name...), `":`...)
	if tame(value) == len(value) && !strings.ContainsAny(value, "\"\\\n\t") {
		return append(append(append(object, '"'), value...), '"'), nil
	}
	escaped, err := encode(value)
	return append(object, escaped...), err
}

// appendBlock appends the event as people are shown it.
func appendBlock(dst []byte, session string, e timeline.Event) []byte {
	start := len(dst)
	dst = append(appendWhen(dst, e.Time), "  "...)
	if session != "" {
		dst = append(append(dst, session...), "  "...)
	}
	text := e.Note
	switch e.Kind {
	case timeline.KindSent:
		dst = append(append(dst, sender(e.From)...), " says"...)
		if e.Via() == timeline.Note {
			dst = append(dst, " (answer by note)"...)
		}
		dst = append(append(dst, "  "...), e.MID...)
		text = e.Text
	default:
		dst = append(dst, displayWord(e.Status, e.Proposal)...)
	}
	if head := dst[start:]; tame(head) < len(head) || bytes.IndexByte(head, '\n') >= 0 {
		dst = append(dst[:start], oneLine(string(head))...)
	}
	dst = append(dst, '\n')
	if text == "" {
		return dst
	}
	return append(appendIndented(dst, plain(text), "    "), '\n')
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
