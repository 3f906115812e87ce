package top

import (
	"fmt"
	"strconv"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// The rows around the body of a view: the head and an empty row above it, two for the
// notice, and the keys below.
const (
	headRows = 2
	footRows = 3
)

// A layout is where things are in the list.
type layout struct {
	body   int // rows of sessions
	detail int // rows about the selected one
}

func (m *Model) layout() layout {
	l := layout{body: m.height - headRows - footRows - 1} // the names of the columns
	if l.body >= 8 {
		l.detail = 3 // one of them empty
		l.body -= l.detail
	}
	l.body = max(l.body, 1)
	return l
}

// Draw returns what the terminal is to show.
func (m *Model) Draw() screen.Frame {
	f := screen.Frame{m.head(), {}}
	var body screen.Frame
	switch m.view {
	case talkView:
		body = m.drawTalk()
	case debtsView:
		body = m.drawDebts()
	case helpView:
		body = m.drawHelp()
	default:
		body = m.drawList()
	}
	rows := max(m.height-headRows-footRows, 1)
	if m.question != nil {
		asked := m.drawQuestion(rows)
		body = append(pad(body, rows-len(asked)), asked...)
	}
	f = append(f, pad(body, rows)...)
	f = append(f, m.drawNotice()...)
	f = append(f, m.drawKeys())
	f = f[:min(len(f), m.height)]
	for i := range f {
		f[i].Spans = clip(f[i].Spans, m.width)
	}
	return f
}

// clip cuts off what does not fit.
func clip(spans []screen.Span, width int) []screen.Span {
	for i := range spans {
		w := screen.Width(spans[i].Text)
		if w > width {
			spans[i].Text = screen.Cut(spans[i].Text, width)
			return spans[:i+1]
		}
		width -= w
	}
	return spans
}

// pad brings a frame to so many rows.
func pad(f screen.Frame, rows int) screen.Frame {
	for len(f) < rows {
		f = append(f, screen.Line{})
	}
	return f[:rows]
}

// sides is a line with a left and a right part; where both do not fit, the right one
// goes.
func (m *Model) sides(left []screen.Span, right ...screen.Span) screen.Line {
	room := m.width - widthOf(right)
	if room < widthOf(left)+2 {
		right, room = nil, m.width
	}
	line := screen.Line{Spans: left}
	if len(right) > 0 {
		line.Spans = append(line.Spans, screen.Span{Text: screen.Fit("", room-widthOf(left))})
		line.Spans = append(line.Spans, right...)
	}
	return line
}

func widthOf(spans []screen.Span) (n int) {
	for _, s := range spans {
		n += screen.Width(s.Text)
	}
	return n
}

// head is the first row: what is looked at, and the sum of all.
func (m *Model) head() screen.Line {
	switch m.view {
	case talkView, debtsView:
		return m.headOf(m.subject())
	case helpView:
		return screen.Of("docket top: keys", screen.Strong)
	}
	s := m.list.sum
	numbers := []screen.Span{{Text: counted(s.sessions, "session"), Style: screen.Dim}}
	if s.persons > 0 {
		verb := "  %d need you"
		if s.persons == 1 {
			verb = "  %d needs you"
		}
		numbers = append(numbers, screen.Span{Text: fmt.Sprintf(verb, s.persons), Style: screen.Warn})
	}
	if s.owed > 0 {
		numbers = append(numbers, screen.Span{Text: fmt.Sprintf("  %d owed", s.owed), Style: screen.Strong})
	}
	switch {
	case m.unread < 0:
		numbers = []screen.Span{{Text: "reading ...", Style: screen.Dim}}
	case m.unread > 0:
		numbers = append(numbers, screen.Span{Text: fmt.Sprintf("  reading %d more", m.unread), Style: screen.Dim})
	}
	title := []screen.Span{{Text: "docket top", Style: screen.Accent}}
	if room := m.width - widthOf(numbers) - widthOf(title) - 4; room >= 8 {
		title = append(title, screen.Span{Text: "  " + cutLeft(m.store, room), Style: screen.Dim})
	} else if room < -2 {
		return screen.Line{Spans: numbers}
	}
	return m.sides(title, numbers...)
}

// headOf is the first row of a view of one session.
func (m *Model) headOf(id string) screen.Line {
	spans := []screen.Span{{Text: id, Style: screen.Accent}}
	if it := m.list.items[id]; it != nil {
		spans = append(spans, screen.Span{Text: "  "}, screen.Span{Text: it.Word(), Style: styleOf(it.Need())})
		if it.Owed > 0 {
			spans = append(spans, screen.Span{Text: "  " + strconv.Itoa(it.Owed) + " owed", Style: screen.Strong})
		}
		if it.Title != "" {
			spans = append(spans, screen.Span{Text: "  " + it.Title, Style: screen.Dim})
		}
	}
	room := m.width - 8
	for i := range spans {
		spans[i].Text = screen.Cut(spans[i].Text, room)
		room -= screen.Width(spans[i].Text)
	}
	place := "pending"
	if m.view == talkView {
		place = m.talk.place()
	}
	return m.sides(spans, screen.Span{Text: place, Style: screen.Dim})
}

// cutLeft is Cut for a path, of which the end says more.
func cutLeft(text string, width int) string {
	if screen.Width(text) <= width {
		return text
	}
	for i := range text {
		if screen.Width(text[i:]) < width {
			return "…" + text[i:]
		}
	}
	return ""
}

// styleOf is how a session with that need looks.
func styleOf(n Need) screen.Style {
	switch n {
	case Decide:
		return screen.Alarm
	case Answer, Review:
		return screen.Warn
	case Rest, History:
		return screen.Dim
	}
	return screen.Plain
}

// drawNotice is the two rows for what was done, is typed, or is wrong; the first one is
// empty where one is enough.
func (m *Model) drawNotice() screen.Frame {
	text, style := m.notice.text, screen.Plain
	if m.notice.bad {
		style = screen.Alarm
	}
	switch busy := m.busy[m.subject()]; {
	case m.entry != nil:
		return screen.Frame{{}, {Spans: []screen.Span{
			{Text: "/" + m.entry.text, Style: screen.Accent}, {Text: " ", Style: screen.Mark},
		}}}
	case text != "":
	case busy != "":
		text = m.subject() + ": " + busy
	case m.bad != "":
		text, style = m.bad, screen.Alarm
	case m.view == listView && m.list.filter != "":
		text, style = fmt.Sprintf("/%s  %s of %d", m.list.filter, counted(len(m.list.order), "session"), m.list.sum.sessions), screen.Accent
	}
	f := wrapped(text, m.width, 0, style, 2)
	if len(f) < 2 {
		f = append(screen.Frame{{}}, f...)
	}
	return f
}

// drawKeys is the last row: the keys that fit.
func (m *Model) drawKeys() screen.Line {
	var pairs [][2]string
	switch {
	case m.question != nil:
		pairs = [][2]string{{"y", "yes"}, {"n", "no"}}
	case m.entry != nil:
		pairs = [][2]string{{"enter", "keep"}, {"esc", "as before"}}
	default:
		for _, b := range bindings() {
			if b.in&m.view != 0 && b.word != "" {
				pairs = append(pairs, [2]string{b.keys[0], b.word})
			}
		}
	}
	// Help and the way out are the last, and always there.
	line, room := screen.Line{}, m.width
	always := min(2, len(pairs))
	for _, p := range pairs[len(pairs)-always:] {
		room -= len(p[0]) + len(p[1]) + 3
	}
	for i, p := range pairs {
		w := len(p[0]) + len(p[1]) + 3
		if i < len(pairs)-always {
			if w > room {
				continue
			}
			room -= w
		}
		line.Spans = append(line.Spans, screen.Span{Text: p[0], Style: screen.Accent}, screen.Span{Text: " " + p[1] + "  ", Style: screen.Dim})
	}
	return line
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
