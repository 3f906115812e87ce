package tmux

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A snapshot is what the server says about the pane and its screen in one
// answer, so that both belong together.
type snapshot struct {
	identity Identity
	dead     bool
	inMode   bool // copy mode or another mode that eats keys
	inputOff bool
	cursorX  int  // columns from the left
	cursorY  int  // rows from the top
	hidden   bool // the program hides the cursor
	width    int  // of the window, columns
	height   int  // of the window, rows
	brackets truth
	window   string
	program  string // the program in the foreground
	socket   string // path of the server's socket
	lines    []line
}

// A truth is yes, no, or not known.
type truth int

const (
	unknown truth = iota
	yes
	no
)

// snapshotFormat lists the numbers of a snapshot; words that may hold anything
// come on lines of their own.
const snapshotFormat = identityFormat + " #{pane_dead} #{pane_in_mode} #{pane_input_off} #{cursor_x} #{cursor_y} " +
	"#{cursor_flag} #{window_width} #{window_height} #{window_id} [#{bracket_paste_flag}]"

// capture reads the pane. The server may answer for another pane where the
// target does not exist, so the caller compares the identity.
func (s server) capture(ctx context.Context, target string) (snapshot, error) {
	say := func(format string) []string { return []string{"display-message", "-p", "-t", target, format, ";"} }
	args := append(say(snapshotFormat), say("#{pane_current_command}")...)
	args = append(append(args, say("#{socket_path}")...), "capture-pane", "-p", "-e", "-t", target)
	out, err := s.run(ctx, "", args...)
	if err != nil {
		return snapshot{}, err
	}
	return parseSnapshot(out)
}

func parseSnapshot(out string) (snapshot, error) {
	head := strings.SplitN(out, "\n", 4)
	f := strings.Fields(head[0])
	if len(head) != 4 || len(f) != 11 {
		return snapshot{}, fmt.Errorf("tmux: cannot read the answer %q of the server", firstLine(out))
	}
	id, err := ParseIdentity(f[0])
	if err != nil {
		return snapshot{}, fmt.Errorf("tmux: answer of the server: %w", err)
	}
	n := make([]int, 9)
	for i := 1; i < len(n); i++ {
		if n[i], err = strconv.Atoi(f[i]); err != nil {
			return snapshot{}, fmt.Errorf("tmux: answer of the server: %w", err)
		}
	}
	return snapshot{
		identity: id, dead: n[1] != 0, inMode: n[2] != 0, inputOff: n[3] != 0,
		cursorX: n[4], cursorY: n[5], hidden: n[6] == 0, width: n[7], height: n[8],
		window: f[9], brackets: map[string]truth{"[1]": yes, "[0]": no}[f[10]],
		program: head[1], socket: head[2], lines: parseLines(head[3]),
	}, nil
}

// row returns row y, which may lie below the last row that holds anything.
func (s snapshot) row(y int) line {
	if y < 0 || y >= len(s.lines) {
		return nil
	}
	return s.lines[y]
}

// A line is one row of the screen.
type line []glyph

// A glyph is one character and what its colours say about it.
type glyph struct {
	r       rune
	faint   bool // dim or grey: how programs show a placeholder
	inverse bool // how programs draw a cursor of their own
}

// text returns the characters of l, without blanks at the end.
func (l line) text() string {
	var b strings.Builder
	for _, g := range l {
		b.WriteRune(g.r)
	}
	return strings.TrimRight(b.String(), " \u00a0\t")
}

// typed returns the text of l without its placeholder: faint characters, and
// the drawn cursor that stands on the first of them. What remains keeps its
// place in bytes.
func (l line) typed() string {
	var b strings.Builder
	for i, g := range l {
		onPlaceholder := g.inverse && i+1 < len(l) && l[i+1].faint
		if g.faint || onPlaceholder {
			b.WriteString(strings.Repeat(" ", len(string(g.r))))
			continue
		}
		b.WriteRune(g.r)
	}
	return strings.TrimRight(b.String(), " \u00a0\t")
}

// squeeze keeps the letters, digits and ASCII signs of s, so that texts can be
// compared that a screen has wrapped, indented and framed.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != '|' || r > 0x7f && isWord(r) {
			return r
		}
		return -1
	}, s)
}
