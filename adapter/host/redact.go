package host

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Hidden stands for what is not shown.
const Hidden = "…"

// maxMessage bounds what [Redact] returns, in bytes.
const maxMessage = 200

// forms are what [Redact] looks for. They are compiled when they are first used: most
// programs that know this package never run an agent.
type forms struct {
	secrets []*regexp.Regexp // hidden wherever they are found
	opaque  *regexp.Regexp   // hidden if it is long
}

var secretForms = sync.OnceValue(func() forms {
	return forms{
		secrets: []*regexp.Regexp{
			regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://\S+`),                                     // an address
			regexp.MustCompile(`(?i)\b(bearer |basic |(token|key|secret|password)["']?[:=])\s*\S+`), // what its name announces
			regexp.MustCompile(`[^\s"'` + "`" + `,;()\[\]{}<>]*[=@/\\][^\s,;]*`),                    // an assignment or a path
		},
		opaque: regexp.MustCompile(`[A-Za-z0-9_+-]*[0-9][A-Za-z0-9_+-]*|[A-Za-z0-9_+-]{24,}`), // a key
	}
})

// shortNumber is how long a status or a number is that is no key, in bytes.
const shortNumber = 4

// Redact returns what may become durable of a message in which a program says what went
// wrong: the beginning of its first line, at most 200 bytes, without addresses, paths,
// assignments and whatever looks like a key, and without the answer of a server that
// it repeats, but for the message in that. A secret that looks like a plain word is not
// known to be one.
func Redact(message string) string {
	message, _, _ = strings.Cut(strings.TrimSpace(inner(message)), "\n")
	message = Printable(Clip(message, 4*maxMessage)) // before the search: what hides can split a key
	find := secretForms()
	for _, secret := range find.secrets {
		message = secret.ReplaceAllString(message, Hidden)
	}
	message = find.opaque.ReplaceAllStringFunc(message, func(word string) string {
		if len(word) <= shortNumber {
			return word
		}
		return Hidden
	})
	return strings.TrimSpace(Clip(message, maxMessage))
}

// inner returns the message inside the JSON of an answer that a program repeats, or
// what stands before it.
func inner(message string) string {
	before, _, found := strings.Cut(message, "{")
	if !found {
		return message
	}
	var answer struct {
		Message string `json:"message"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	_ = json.NewDecoder(strings.NewReader(message[len(before):])).Decode(&answer)
	for _, said := range []string{answer.Error.Message, answer.Message} {
		if said, _, _ := strings.Cut(said, "{"); said != "" {
			return said
		}
	}
	return before
}

var plainName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.+-]{0,39}$`) })

// PlainName returns the name of a program or a tool, and nothing for what may be more
// than a name.
func PlainName(name string) string {
	if !plainName().MatchString(name) {
		return ""
	}
	return name
}

// ProgramName returns what may be shown of a command: the name of the program that it
// begins with, if it is one.
func ProgramName(command string) string {
	words := strings.Fields(Clip(command, 4*maxMessage))
	if len(words) == 0 {
		return ""
	}
	return PlainName(path.Base(words[0]))
}

// Printable leaves out of a text what acts on a terminal or hides, and the space around
// it. A newline acts.
func Printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text))
}

// Clip returns the beginning of a text, at most limitBytes, cut between runes.
func Clip(text string, limitBytes int) string {
	if len(text) <= limitBytes {
		return text
	}
	for limitBytes > 0 && !utf8.RuneStart(text[limitBytes]) {
		limitBytes--
	}
	return text[:limitBytes]
}
