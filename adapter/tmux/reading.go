package tmux

import "strings"

// A finding is what a screen shows.
type finding int

const (
	foundIdle       finding = iota
	foundDead               // the pane's program has ended
	foundMode               // copy mode or another mode eats the keys
	foundInputOff           // the pane takes no input
	foundDialog             // Enter would answer it
	foundNoComposer         // nothing on the screen looks like a place to type
	foundShell              // a shell's prompt, which would run the text
	foundDraft              // somebody's text is on the input line
	foundBusy               // a turn is going on
)

// A reading is a screen as the adapter understands it.
type reading struct {
	finding
	detail string // the rows that decided, for people
	input  string // squeezed text at whose end a typed text stands
}

// bottomRows is how many rows that hold anything are searched, from the last one
// upward, for dialogs and signs of work; what is above them is conversation.
const bottomRows = 12

// read judges a screen. It is cautious: what it does not recognise as an empty
// input line is not idle.
func (p profile) read(s snapshot) reading {
	switch {
	case s.dead:
		return reading{finding: foundDead}
	case s.inMode:
		return reading{finding: foundMode}
	case s.inputOff:
		return reading{finding: foundInputOff}
	}
	r := p.locate(s)
	bottom := s.bottom()
	if p.dialog != nil {
		if m := p.dialog.FindString(bottom); m != "" {
			r.finding, r.detail = foundDialog, firstLine(m)
		}
	}
	if r.finding == foundIdle && p.busy != nil {
		if m := p.busy.FindString(bottom); m != "" {
			r.finding, r.detail = foundBusy, firstLine(m)
		}
	}
	return r
}

// bottom returns the last rows that hold more than a frame.
func (s snapshot) bottom() string {
	var rows []string
	for y := len(s.lines) - 1; y >= 0 && len(rows) < bottomRows; y-- {
		if row := s.lines[y].text(); !frameOnly.compiled().MatchString(row) {
			rows = append([]string{row}, rows...)
		}
	}
	return strings.Join(rows, "\n")
}

// locate finds the input line and judges it alone.
func (p profile) locate(s snapshot) reading {
	switch {
	case p.composer != nil:
		return p.byPattern(s, p.composer.FindStringSubmatchIndex)
	case s.hidden:
		return p.byPattern(s, hiddenCursorComposer.compiled().FindStringSubmatchIndex)
	}
	return p.byCursor(s)
}

// byPattern takes the last row that matches, and the indented or framed rows
// that follow it.
func (p profile) byPattern(s snapshot, match func(string) []int) reading {
	for y := len(s.lines) - 1; y >= 0; y-- {
		shown := s.lines[y].text()
		m := match(shown)
		if m == nil {
			continue
		}
		typed := group(s.lines[y].typed(), m)
		for _, l := range s.lines[y+1:] {
			row := l.text()
			if frameOnly.compiled().MatchString(row) || frameLeft.compiled().FindString(row) == "" {
				break
			}
			typed += "\n" + framing.compiled().ReplaceAllString(l.typed(), "")
			shown += row
		}
		return p.judge(typed, shown)
	}
	return reading{finding: foundNoComposer}
}

// group returns what the first group of a match holds in row, or all of row if
// the pattern has no group.
func group(row string, m []int) string {
	from, to := 0, len(row)
	if len(m) >= 4 {
		if from, to = m[2], m[3]; from < 0 {
			return ""
		}
	}
	return row[min(from, len(row)):min(to, len(row))]
}

// byCursor takes the row of the cursor.
func (p profile) byCursor(s snapshot) reading {
	row, above := s.row(s.cursorY), s.row(s.cursorY-1)
	typed := framing.compiled().ReplaceAllString(row.typed(), "")
	shown := ""
	if !frameOnly.compiled().MatchString(row.text()) {
		for y := 0; y <= s.cursorY; y++ {
			shown += s.row(y).text()
		}
	}
	if typed == "" && s.cursorX > 0 && startsDraft(above, row) {
		typed = above.typed()
	}
	shell := isShell(s.program) && !p.shell
	prompt := idlePrompt.compiled()
	if shell {
		prompt = scriptInput.compiled()
	}
	if prompt.MatchString(typed) {
		return p.judge("", shown)
	}
	r := p.judge(typed, shown)
	if shell {
		r.finding, r.detail = foundShell, s.program
	}
	return r
}

// startsDraft reports whether the row above an empty one holds the beginning of
// one text with it: both are inside one frame, or it stands behind an arrow.
func startsDraft(above, row line) bool {
	if frameOnly.compiled().MatchString(above.typed()) {
		return false
	}
	text := above.text()
	return bordered.compiled().MatchString(text) && bordered.compiled().MatchString(row.text()) ||
		promptArrow.compiled().MatchString(frameLeft.compiled().ReplaceAllString(text, ""))
}

// judge decides whether what is typed is nothing.
func (p profile) judge(typed, shown string) reading {
	r := reading{input: squeeze(shown)}
	typed = framing.compiled().ReplaceAllString(strings.Trim(typed, "\n"), "")
	placeholder := p.placeholder != nil && p.placeholder.MatchString(promptArrow.compiled().ReplaceAllString(typed, ""))
	if typed != "" && !placeholder {
		r.finding, r.detail = foundDraft, firstLine(typed)
	}
	return r
}
