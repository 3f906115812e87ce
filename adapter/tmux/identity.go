package tmux

import (
	"fmt"
	"strings"
)

// An Identity names one pane for good. The number of a pane is given out again
// after the server restarts, and a respawned pane keeps its number with another
// program in it; an Identity is neither reused nor kept.
type Identity struct {
	Server  string // process id of the tmux server
	Started string // when that server started, seconds since 1970
	Pane    string // the pane's number, such as %5
	Process string // process id of the pane's first program
}

// identityFormat makes tmux print an [Identity] in its text form.
const identityFormat = "#{pid}:#{start_time}:#{pane_id}:#{pane_pid}"

var (
	identitySyntax = lazy{pattern: `^([0-9]+):([0-9]+):(%[0-9]+):([0-9]+)$`}
	targetSyntax   = lazy{pattern: `^%[0-9]+$`}
	plainWord      = lazy{pattern: `^[A-Za-z0-9._+-]+$`}
)

// ParseIdentity reads the text form of an Identity.
func ParseIdentity(text string) (Identity, error) {
	m := identitySyntax.compiled().FindStringSubmatch(text)
	if m == nil {
		return Identity{}, fmt.Errorf("%q is no identity of a pane: want what tmux prints for %s", text, identityFormat)
	}
	return Identity{Server: m[1], Started: m[2], Pane: m[3], Process: m[4]}, nil
}

// String returns the text form: server process, start of the server, pane
// number and pane process, with colons between them.
func (i Identity) String() string {
	return strings.Join([]string{i.Server, i.Started, i.Pane, i.Process}, ":")
}

// guard returns the tmux condition that the pane is still i, lives, takes input,
// is in no mode, and has the same program in the foreground. The values in it
// hold no character that a format would read as syntax.
func (i Identity) guard(program string) string {
	pane := "#{&&:#{==:" + identityFormat + "," + i.String() + "}," +
		"#{==:#{pane_dead}#{pane_in_mode}#{pane_input_off},000}}"
	if !plainWord.compiled().MatchString(program) {
		return pane
	}
	return "#{&&:" + pane + ",#{==:#{pane_current_command}," + program + "}}"
}
