package top

import (
	"strings"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// drawHelp is the body of the help.
func (m *Model) drawHelp() screen.Frame {
	lines := m.helpLines()
	return lines[min(m.help, len(lines)):]
}

// helpLines is the whole of it.
func (m *Model) helpLines() (f screen.Frame) {
	for _, part := range []struct {
		title string
		in    view
	}{{"sessions", listView}, {"what a session is owed", debtsView}, {"a conversation", talkView}} {
		f = append(f, screen.Of(part.title, screen.Strong))
		for _, b := range bindings() {
			if b.in&part.in == 0 {
				continue
			}
			keys := strings.ReplaceAll(strings.Join(b.keys, " "), "  ", "space ")
			if b.keys[0] == " " {
				keys = "space " + strings.Join(b.keys[1:], " ")
			}
			for i, p := range screen.Wrap(b.more, max(m.width-helpColumn, 8)) {
				if i > 0 {
					keys = ""
				}
				f = append(f, screen.Line{Spans: []screen.Span{
					{Text: "  " + screen.Fit(keys, helpColumn-2), Style: screen.Accent}, {Text: p.Text},
				}})
			}
		}
		f = append(f, screen.Line{})
	}
	f = append(f, screen.Of("signs", screen.Strong))
	for _, sign := range []struct {
		text  string
		style screen.Style
	}{
		{"!  somebody has to decide: unconfirmed, or not readable", screen.Alarm},
		{"?  it waits for a person: it asks, failed, or has something to review", screen.Warn},
		{">  it is owed something", screen.Plain},
	} {
		f = append(f, wrapped(sign.text, m.width, 2, sign.style, 3)...)
	}
	return f
}

// helpColumn is where the explanations begin.
const helpColumn = 22
