package tmux_test

import (
	"testing"

	"github.com/docket-go/docket/adapter/tmux"
)

func TestWhatAClientIsToldAboutBracketedPaste(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, shown, want string }{
		{"3.3, asked for", "\x1b[?2004l\x1b[1;1H\x1b[?2004h", "yes"},
		{"3.3, not asked for", "\x1b[?25h\x1b[?2004l\x1b[1;1H", "no"},
		{"3.3, no longer asked for", "\x1b[?2004l\x1b[?2004h\x1b[?2004l", "no"},
		{"always asked for", "\x1b[?2004h\x1b[1;1H\x1b[?2004l", "unknown"},
		{"a terminal without it", "\x1b[1;1H", "unknown"},
		{"cut off", "\x1b[?2004", "unknown"},
	} {
		if got := tmux.BracketsIn(tt.shown); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}
