package top

import (
	"fmt"
	"strconv"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// A column is one of the list.
type column struct {
	name  string
	width int // 0 where the terminal is too narrow for it
	right bool
	cell  func(m *Model, r Row) screen.Span
}

// columns returns those of the list for the width of the terminal. The last one takes
// what is left.
func (m *Model) columns() []column {
	session, state, last, title := m.width/3, 10, 0, 0
	if m.width >= 60 {
		session, state, last = max(m.width/4, 16), 13, 7
	}
	if m.width >= 140 {
		title = 28
	}
	const sign, owed, head = 1, 4, 6
	session = min(session, 40, max(m.list.widest, 7))
	columns := []column{
		{"", sign, false, func(_ *Model, r Row) screen.Span { return screen.Span{Text: r.Need().Sign(), Style: styleOf(r.Need())} }},
		{"SESSION", session, false, func(_ *Model, r Row) screen.Span { return screen.Span{Text: r.ID, Style: nameStyle(r)} }},
		{"STATE", state, false, func(_ *Model, r Row) screen.Span { return screen.Span{Text: r.Word(), Style: stateStyle(r)} }},
		{"OWED", owed, true, owedCell},
		{"OLDEST", head, true, oldestCell},
		{"LAST", last, true, func(m *Model, r Row) screen.Span {
			return screen.Span{Text: m.age(r.Last, !r.Last.IsZero()), Style: screen.Dim}
		}},
		{"TITLE", title, false, func(_ *Model, r Row) screen.Span { return screen.Span{Text: r.Title, Style: screen.Dim} }},
	}
	left := m.width
	shown := columns[:0]
	for _, c := range columns {
		if c.width > 0 {
			shown = append(shown, c)
			left -= c.width + 1
		}
	}
	if left > 10 {
		shown = append(shown, column{"WHY", left - 1, false, whyCell(title > 0)})
	}
	return shown
}

// nameStyle and stateStyle say what is read first.
func nameStyle(r Row) screen.Style {
	switch n := r.Need(); {
	case n.Person():
		return screen.Strong
	case n >= Rest:
		return screen.Dim
	}
	return screen.Plain
}

func stateStyle(r Row) screen.Style {
	if n := r.Need(); n != Decide {
		return styleOf(n)
	}
	return screen.Plain // what is to be decided is about a message, not the agent
}

func owedCell(_ *Model, r Row) screen.Span {
	if r.Uncounted {
		return screen.Span{Text: "?", Style: screen.Alarm}
	}
	if r.Owed == 0 {
		return screen.Span{Text: "-", Style: screen.Dim}
	}
	text := strconv.Itoa(r.Owed)
	if r.Owed > 9999 {
		text = fmt.Sprintf("%dk", min(r.Owed/1000, 999))
	}
	return screen.Span{Text: text, Style: screen.Strong}
}

func oldestCell(m *Model, r Row) screen.Span {
	if r.Owed == 0 {
		return screen.Span{Text: "-", Style: screen.Dim}
	}
	return screen.Span{Text: m.age(r.Since, true)}
}

// whyCell is the reason; where no column has the title, that stands in for none.
func whyCell(titled bool) func(*Model, Row) screen.Span {
	return func(_ *Model, r Row) screen.Span {
		why, style := r.Why(), screen.Dim
		if r.Need().Person() {
			style = screen.Plain
		}
		if why == "" && !titled {
			why = r.Title
		}
		return screen.Span{Text: why, Style: style}
	}
}

// drawList is the body of the list.
func (m *Model) drawList() screen.Frame {
	columns := m.columns()
	f := screen.Frame{m.columnNames(columns)}
	for _, it := range m.list.window() {
		f = append(f, m.drawRow(columns, it.Row, it.ID == m.list.selected))
	}
	if len(m.list.order) == 0 {
		f = append(f, screen.Of(m.nothing(), screen.Dim))
	}
	l := m.layout()
	f = pad(f, 1+l.body)
	if l.detail > 0 {
		f = append(f, pad(m.detail(), l.detail)...)
	}
	return f
}

// nothing says why no session is shown.
func (m *Model) nothing() string {
	switch {
	case m.unread != 0:
		return "reading the store ..."
	case m.list.filter != "":
		return "no session holds this text"
	}
	if m.match != "" {
		return "no session fits " + m.match + " yet"
	}
	return "no sessions yet: docket new ID makes one"
}

func (m *Model) columnNames(columns []column) screen.Line {
	line := screen.Line{}
	for _, c := range columns {
		line.Spans = append(line.Spans, screen.Span{Text: place(c, c.name) + " ", Style: screen.Dim})
	}
	return line
}

func (m *Model) drawRow(columns []column, r Row, selected bool) screen.Line {
	line := screen.Line{Selected: selected}
	for i, c := range columns {
		cell := c.cell(m, r)
		cell.Text = place(c, cell.Text)
		if i < len(columns)-1 || selected {
			cell.Text += " "
		}
		line.Spans = append(line.Spans, cell)
	}
	return line
}

func place(c column, text string) string {
	if c.right {
		return screen.FitRight(text, c.width)
	}
	return screen.Fit(text, c.width)
}

// detail is what the rows of the list are too narrow for: all of the selected session.
func (m *Model) detail() screen.Frame {
	r, ok := m.list.current()
	if !ok {
		return nil
	}
	text := r.ID
	for _, more := range []string{r.Title, r.Why()} {
		if more != "" {
			text += "  " + more
		}
	}
	f := screen.Frame{{}}
	rows := screen.Wrap(text, m.width)
	for i, p := range rows {
		if i == 1 && len(rows) > 2 {
			p.Text = screen.Cut(p.Text+" "+rows[2].Text, m.width)
		}
		f = append(f, screen.Of(p.Text, screen.Plain))
	}
	return f
}

// age is how long ago a time was, in at most six columns; a dash where it does not
// apply, and a question mark where nobody knows it.
func (m *Model) age(at time.Time, applies bool) string {
	switch {
	case !applies:
		return "-"
	case at.IsZero():
		return "?"
	}
	return Age(m.now.Sub(at))
}

// Age is a time that can be read at a glance, in at most six columns.
func Age(d time.Duration) string {
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dd", min(int(d.Hours()/24), 99999))
}
