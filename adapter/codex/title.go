package codex

import (
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxTitle = 200 // bytes of a title, and of what is kept of a message
	hidden   = "…" // stands for what is not shown
)

var (
	programName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.+-]{0,39}$`)

	address = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://\S+`)
	bearer  = regexp.MustCompile(`(?i)\b(bearer |basic |(token|key|secret|password)["']?[:=])\s*\S+`)
	datum   = regexp.MustCompile(`[^\s"'` + "`" + `,;()\[\]{}<>]*[=@/\\][^\s,;]*`)
	opaque  = regexp.MustCompile(`[A-Za-z0-9_+-]*[0-9][A-Za-z0-9_+-]*|[A-Za-z0-9_+-]{24,}`)
)

// firstWord returns the name of the program that a command begins with, if it is one.
func firstWord(command string) string {
	words := strings.Fields(clip(command, 4*maxTitle))
	if len(words) == 0 {
		return ""
	}
	return word(path.Base(words[0]))
}

// word returns a name, and nothing for what is none.
func word(name string) string {
	if !programName.MatchString(name) {
		return ""
	}
	return name
}

// scrub returns what can be kept of the message of an error: the beginning of its
// first line, without addresses, paths, assignments and whatever looks like a key.
func scrub(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = clip(strings.ToValidUTF8(text, ""), 4*maxTitle)
	for _, hide := range []*regexp.Regexp{address, bearer, datum} {
		text = hide.ReplaceAllString(text, hidden)
	}
	text = opaque.ReplaceAllStringFunc(text, func(word string) string {
		if len(word) <= 4 { // a status or a short number
			return word
		}
		return hidden
	})
	return clip(printable(text), maxTitle)
}

// printable leaves out what acts on a terminal or hides.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s))
}

// clip returns the beginning of s, at most limit bytes, cut at a rune.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
