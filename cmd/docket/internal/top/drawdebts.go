package top

import (
	"fmt"
	"strings"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// The rows of a text that are shown of a debt: of the selected one, and of the others.
const (
	longText  = 8
	shortText = 2
)

// drawDebts is the body of what a session is owed: one block for each message, with
// the selected one in the window.
func (m *Model) drawDebts() screen.Frame {
	l := &m.ledger
	height := max(m.height-headRows-footRows, 1)
	switch {
	case !l.loaded:
		return screen.Frame{screen.Of("reading ...", screen.Dim)}
	case l.Bad != "":
		return wrapped(l.Bad, m.width, 0, screen.Alarm, height)
	case len(l.List) == 0:
		return screen.Frame{screen.Of("nothing is owed", screen.Dim)}
	}
	selected := l.at()
	f := m.drawDebt(selected, true)
	for i := selected + 1; i < len(l.List) && len(f) < height; i++ {
		f = append(f, m.drawDebt(i, false)...)
	}
	// What stands above the selected one fills the rest of the window, at least a third.
	above := screen.Frame{}
	for i := selected - 1; i >= 0 && (len(f)+len(above) < height || len(above) < height/3); i-- {
		above = append(m.drawDebt(i, false), above...)
	}
	room := max(height-len(f), min(height/3, height-longText-4), 0)
	if selected == 0 {
		room = 0
	}
	above = above[max(len(above)-room, 0):]
	return append(above, f...)[:min(len(above)+len(f), height)]
}

// drawDebt is one message: its place and state, why it is not delivered, its text.
func (m *Model) drawDebt(i int, selected bool) screen.Frame {
	d := m.ledger.List[i]
	sign, style := " ", screen.Plain
	if d.Unconfirmed {
		sign, style = "!", screen.Alarm
	}
	head := fmt.Sprintf("%s %d. %s", sign, i+1, d.word())
	if age := m.age(d.Since, true); age != "?" {
		head += "  for " + age
	}
	if d.Attempts > 0 {
		head += "  " + counted(d.Attempts, "attempt") + ", last " + m.age(d.Last, true) + " ago"
	}
	head += "  from " + d.From + "  " + d.Name
	line := screen.Of(screen.Fit(head, m.width), style)
	line.Selected = selected
	f := screen.Frame{line}
	if d.Why != "" {
		f = append(f, wrapped("why: "+d.Why, m.width, 4, screen.Dim, 4)...)
	}
	rows := shortText
	if selected {
		rows = longText
	}
	return append(append(f, wrapped(d.Text, m.width, 4, screen.Plain, rows)...), screen.Line{})
}

// wrapped is a text in at most so many rows, that far in.
func wrapped(text string, width, in int, style screen.Style, rows int) (f screen.Frame) {
	pieces := screen.Wrap(strings.TrimRight(text, "\n"), max(width-in, 1))
	for i, p := range pieces {
		if i == rows-1 && len(pieces) > rows {
			p.Text = screen.Cut(p.Text+" "+pieces[i+1].Text, width-in)
			if more := len(pieces) - rows; in > 0 {
				p.Text = fmt.Sprintf("… %s more", counted(more+1, "line"))
			}
		}
		if i == rows {
			break
		}
		f = append(f, screen.Of(screen.Fit("", in)+p.Text, style))
	}
	return f
}

// drawQuestion is what is asked before something is changed: the message, and then the
// question, in at most so many rows.
func (m *Model) drawQuestion(rows int) screen.Frame {
	q := m.question
	ask := wrapped(q.ask+"  y/n", m.width, 0, screen.Warn, 3)
	f := screen.Frame{
		screen.Of(strings.Repeat("─", m.width), screen.Warn),
		screen.Of(screen.Cut(q.about, m.width), screen.Dim),
	}
	f = append(f, wrapped(q.text, m.width, 2, screen.Plain, max(rows/2-len(ask)-2, 1))...)
	f = append(f, ask...)
	return f[max(len(f)-rows, 0):]
}
