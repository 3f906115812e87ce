package tmux

import (
	"maps"
	"slices"
	"strings"
)

// Reading judges a screen, given as capture-pane -e prints it, with the cursor
// where the sign ▮ stands, hidden if there is none; program has the foreground.
// It returns what an idle, typed or blocked pane would be called.
func Reading(profileName, program, screen string) string {
	p, err := newProfile(profileName, patterns{})
	if err != nil {
		return err.Error()
	}
	s := snapshot{program: program, hidden: true}
	for y, row := range strings.Split(screen, "\n") {
		if before, after, ok := strings.Cut(row, "▮"); ok {
			s.hidden, s.cursorX, s.cursorY = false, len([]rune(before)), y
			screen = strings.Replace(screen, row, before+after, 1)
		}
	}
	s.lines = parseLines(screen)
	return [...]string{"idle", "dead", "mode", "input off", "dialog", "no composer", "shell", "draft", "busy"}[p.read(s).finding]
}

// Profiles returns the profiles that there are, and those that the setting names.
func Profiles() (there, named string) {
	return strings.Join(slices.Sorted(maps.Keys(known())), ", "), profileNames
}
