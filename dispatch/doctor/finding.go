package doctor

import (
	"fmt"
	"strings"
	"time"
)

// A Level is how bad a finding is.
type Level string

// The levels.
const (
	OK      Level = "ok"
	Note    Level = "note"    // worth knowing
	Problem Level = "problem" // somebody has to do something
)

// A Finding is one thing that was looked at.
type Finding struct {
	Check   string // the word of the package comment
	Level   Level
	Session string // that it is about; empty if it is about no one session
	MID     string // likewise
	Text    string // what was found
	Do      string // the command to run, on a line of its own; empty if there is nothing to do
	Corrupt bool   // something stored cannot be read
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=:,@%", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// age is a time as people say it.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return max(d, 0).Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// size is a number of bytes as people say it.
func size(bytes uint64) string {
	const unit = 1024
	if bytes < unit {
		return fmt.Sprintf("%d bytes", bytes)
	}
	value, prefix := float64(bytes)/unit, 0
	for value >= unit && prefix < 4 {
		value, prefix = value/unit, prefix+1
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTP"[prefix])
}
