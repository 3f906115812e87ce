package watching

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/docket-go/docket/timeline"
)

// maxNoteBytes bounds the note in a message: most replies are shorter, and an agent
// that watches many others should not be filled with one.
const maxNoteBytes = 16 << 10

// maxWordBytes bounds a word in an attribute: docket's own are shorter, and another
// program may have declared anything.
const maxWordBytes = 256

// News is one declaration, for one watcher.
type News struct {
	Session string         // who declared
	By      string         // who is told
	Event   timeline.Event // of kind status

	Before timeline.Cursor // names the event
	Next   timeline.Cursor // after it

	// MaxNote bounds the note in the text, in bytes. Zero means 16 KiB; a negative
	// value means no note at all.
	MaxNote int
}

// meanings say what the display words mean to somebody else.
var meanings = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"review": "it proposes to take its work over", "done": "it is done and proposes nothing",
		"close-pending": "it proposes to close its session", "asking": "it waits for an answer to its note",
		"idle": "it has nothing to do", "parked": "it waits for something outside",
		"error": "it cannot go on", "working": "it works",
	}
})

// String writes the message: who, the display word, the note, how to answer, and how
// to end the watch. The note is indented, so that no line of it can pass for one of
// the message's own.
func (n News) String() string {
	var b strings.Builder
	word := quoted(n.Event.Display())
	fmt.Fprintf(&b, "[docket] %s declared %s", n.Session, word)
	if !n.Event.Time.IsZero() {
		fmt.Fprintf(&b, " at %s", n.Event.Time.UTC().Format("2006-01-02 15:04:05Z"))
	}
	if meaning := meanings()[word]; meaning != "" {
		fmt.Fprintf(&b, ": %s", meaning)
	}
	b.WriteString(". ")
	n.writeNote(&b)
	fmt.Fprintf(&b, "\n\nTo answer: docket send %s --from %s \"<your answer>\"", n.Session, n.By)
	fmt.Fprintf(&b, "\n%s watches %s; to end that: docket unwatch %s --by %s", n.By, n.Session, n.Session, n.By)
	return b.String()
}

func (n News) writeNote(b *strings.Builder) {
	note := strings.TrimRight(n.Event.Note, "\n")
	shown := cut(note, cmp.Or(n.MaxNote, maxNoteBytes))
	switch {
	case strings.TrimSpace(note) == "":
		b.WriteString("There is no note.")
		return
	case len(shown) == len(note):
		b.WriteString("Its note:")
	default:
		fmt.Fprintf(b, "Its note, of which this is %d of %d bytes; the whole: docket log %s --after %s --limit 1",
			len(shown), len(note), n.Session, n.Before)
	}
	if shown != "" {
		fmt.Fprintf(b, "\n\n%s", indented(clean(shown)))
	}
}

// plainWord is a word that docket itself may have written.
var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_-]{0,63}$`) })

// quoted is a word of the timeline for readers. Another program may have declared
// anything.
func quoted(word string) string {
	if plainWord().MatchString(word) {
		return word
	}
	return fmt.Sprintf("%q", clean(cut(word, 64)))
}

// clean is text that a message may hold, whoever wrote it.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// cut returns at most the first limit bytes of the text, whole characters, and whole
// lines where they are not much less.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	limit = max(limit, 0)
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	text = text[:limit]
	if i := strings.LastIndexByte(text, '\n'); i > limit*3/4 {
		text = text[:i]
	}
	return text
}

const indent = "    "

// indented puts blanks in front of every line, whatever character begins it. Each
// character of the text stays.
func indented(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/16)
	b.WriteString(indent)
	for i, r := range text {
		b.WriteRune(r)
		if beginsLine(r) && !strings.HasPrefix(text[i:], "\r\n") {
			b.WriteString(indent)
		}
	}
	return b.String()
}

// beginsLine reports whether what stands behind r may be shown on a new line, or at
// the beginning of one.
func beginsLine(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// attributes say to programs what the text says to readers.
func (n News) attributes() map[string]string {
	a := map[string]string{
		"watch.session": n.Session, "watch.cursor": n.Next.String(),
		"watch.status": clean(cut(n.Event.Status, maxWordBytes)), "watch.display": clean(cut(n.Event.Display(), maxWordBytes)),
	}
	if n.Event.Proposal != "" {
		a["watch.proposal"] = clean(cut(n.Event.Proposal, maxWordBytes))
	}
	return a
}
