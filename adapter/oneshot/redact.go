package oneshot

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxID   = 200 // bytes of an id
	maxSaid = 200 // bytes that are kept of a program's message
	hidden  = "…" // stands for what is not shown
)

var (
	address = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://\S+`)
	bearer  = regexp.MustCompile(`(?i)\b(bearer |basic |(token|key|secret|password)["']?[:=])\s*\S+`)
	datum   = regexp.MustCompile(`[^\s"'` + "`" + `,;()\[\]{}<>]*[=@/\\][^\s,;]*`)
	opaque  = regexp.MustCompile(`[A-Za-z0-9_+-]*[0-9][A-Za-z0-9_+-]*|[A-Za-z0-9_+-]{24,}`)
)

// scrub returns what can be kept of a program's message: the beginning of its first
// line, without addresses, paths, assignments and whatever looks like a key.
func scrub(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(inner(text)), "\n")
	text = clip(strings.ToValidUTF8(text, ""), 4*maxSaid)
	for _, hide := range []*regexp.Regexp{address, bearer, datum} {
		text = hide.ReplaceAllString(text, hidden)
	}
	text = opaque.ReplaceAllStringFunc(text, func(word string) string {
		if len(word) <= 4 { // a status or a short number
			return word
		}
		return hidden
	})
	return strings.TrimSpace(clip(printable(text), maxSaid))
}

// inner returns the message inside the JSON of an answer that a program repeats, or
// what stands before it: the answer itself is not kept.
func inner(text string) string {
	before, _, found := strings.Cut(text, "{")
	if !found {
		return text
	}
	var answer struct {
		Message string `json:"message"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.NewDecoder(strings.NewReader(text[len(before):])).Decode(&answer)
	for _, said := range []string{answer.Error.Message, answer.Message} {
		if said, _, _ := strings.Cut(said, "{"); said != "" {
			return said
		}
	}
	return before
}

var toolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.:-]{0,63}$`)

// titleOf returns what may be shown of a call: the name of the tool, and nothing of
// what it is given.
func titleOf(name string) string {
	if !toolName.MatchString(name) {
		return ""
	}
	return name
}

// classes are what the tools of the known programs do, by their names in lower case.
var classes = map[string]string{
	"bash": "execute", "shell": "execute", "command": "execute", "run_shell_command": "execute", "bashoutput": "execute",
	"read": "read", "read_file": "read", "read_many_files": "read", "ls": "read", "list": "read", "list_directory": "read",
	"edit": "edit", "multiedit": "edit", "write": "edit", "write_file": "edit", "replace": "edit", "patch": "edit", "apply_patch": "edit",
	"notebookedit": "edit", "file_change": "edit",
	"grep": "search", "glob": "search", "find": "search", "search_file_content": "search", "grep_search": "search",
	"webfetch": "fetch", "web_fetch": "fetch", "websearch": "fetch", "web_search": "fetch", "google_web_search": "fetch",
}

func classOf(name string) string {
	if class, known := classes[strings.ToLower(name)]; known {
		return class
	}
	return "other"
}

// printable leaves out what acts on a terminal or hides.
func printable(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
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
