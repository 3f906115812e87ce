package exec

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// tailBytes and tailLines bound what is kept of a standard error.
const (
	tailBytes = 500
	tailLines = 3
)

// tail is a writer that keeps the end of what is written.
type tail struct {
	mu  sync.Mutex
	end []byte
	cut bool // something before end is gone
}

// Write keeps the end of p and never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, p[max(0, len(p)-tailBytes-1):]...)
	if over := len(t.end) - tailBytes; over > 0 {
		t.end = slices.Delete(t.end, 0, over)
		t.cut = true
	}
	return len(p), nil
}

// String returns the last lines that are not blank, on one line, without what a
// terminal would take for a command.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(string(t.end), "")) {
		if line = strings.TrimSpace(strings.Map(printable, line)); line != "" {
			lines = append(lines, line)
		}
	}
	kept := lines[max(0, len(lines)-tailLines):]
	said := strings.Join(kept, " | ")
	if t.cut && len(kept) == len(lines) && said != "" {
		said = "..." + said
	}
	return said
}

func printable(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case unicode.IsPrint(r):
		return r
	}
	return -1
}
