package codex

import (
	"path"
	"regexp"
	"strings"

	"github.com/docket-go/docket/adapter/host"
)

const maxTitle = 200 // bytes of a title

var programName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.+-]{0,39}$`)

// firstWord returns the name of the program that a command begins with, if it is one.
func firstWord(command string) string {
	words := strings.Fields(host.Clip(command, 4*maxTitle))
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
