package top

import (
	"fmt"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// place says where in the conversation the window is.
func (t *talk) place() string {
	switch {
	case !t.loaded:
		return "reading"
	case t.live:
		return "live"
	case t.top == 0 && t.whole:
		return "start"
	}
	return fmt.Sprintf("%d%%", 100*t.top/max(t.bottom(), 1))
}

// drawTalk is the body of the reader.
func (m *Model) drawTalk() screen.Frame {
	t := &m.talk
	if t.loaded && len(t.events) == 0 {
		return screen.Frame{screen.Of("nothing was said yet", screen.Dim)}
	}
	var f screen.Frame
	event, in := t.eventAt(t.top)
	for ; event < len(t.events) && len(f) < t.height; event++ {
		lines := m.drawEvent(event)
		f = append(f, lines[min(in, len(lines)):]...)
		in = 0
	}
	return f[:min(len(f), t.height)]
}

// drawEvent is one event; it has as many rows as rowsOf says.
func (m *Model) drawEvent(i int) screen.Frame {
	t := &m.talk
	e := t.events[i]
	var f screen.Frame
	if t.newDay(i) {
		f = append(f, screen.Of(day(e.Time)+" UTC", screen.Dim), screen.Line{})
	}
	head := []screen.Span{{Text: e.Time.UTC().Format("15:04:05") + "  ", Style: screen.Dim}}
	if e.MID != "" {
		head = append(head, screen.Span{Text: e.Who, Style: screen.Accent}, screen.Span{Text: " says", Style: screen.Dim})
		if mark := t.marks[e.MID]; mark != "" {
			head = append(head, screen.Span{Text: "  " + mark, Style: screen.Warn})
		}
		if e.Note {
			head = append(head, screen.Span{Text: "  answer by note", Style: screen.Dim})
		}
	} else {
		head = append(head, screen.Span{Text: e.Word, Style: screen.Strong})
	}
	f = append(f, screen.Line{Spans: head})
	for k, p := range t.rows[i] {
		end := len(e.Text)
		if k+1 < len(t.rows[i]) {
			end = t.rows[i][k+1].At
		}
		f = append(f, t.drawPiece(i, p, end))
	}
	return append(f, screen.Line{})
}

// drawPiece is one row of a text, with what is searched for marked in it. The row ends
// before the byte end of the text.
func (t *talk) drawPiece(event int, p screen.Piece, end int) screen.Line {
	line := screen.Line{Spans: []screen.Span{{Text: screen.Fit("", indent)}}}
	if t.search == nil {
		line.Spans = append(line.Spans, screen.Span{Text: p.Text})
		return line
	}
	if t.hit.any && t.hit.event == event && p.At <= t.hit.at && t.hit.at < end {
		line.Spans[0] = screen.Span{Text: screen.Fit(">", indent), Style: screen.Accent}
	}
	from := 0
	for _, place := range t.search.FindAllStringIndex(p.Text, -1) {
		line.Spans = append(line.Spans, screen.Span{Text: p.Text[from:place[0]]}, screen.Span{Text: p.Text[place[0]:place[1]], Style: screen.Mark})
		from = place[1]
	}
	line.Spans = append(line.Spans, screen.Span{Text: p.Text[from:]})
	return line
}
