package screen

// A Style says how a span looks.
type Style uint8

// The styles. Accent, Warn and Alarm are colours: what they stand for must be said in
// words or signs beside them.
const (
	Plain  Style = iota
	Dim          // what is read second
	Strong       // what is read first
	Accent       // the one colour of what can be acted on
	Warn         // it waits for somebody
	Alarm        // somebody has to decide
	Mark         // what was searched for
)

// sgr are the parameters of a style's control sequence.
var sgr = [...]string{Plain: "", Dim: "2", Strong: "1", Accent: "36", Warn: "33", Alarm: "1;31", Mark: "7"}

// bare are those of the styles where there is no colour.
var bare = [...]string{Plain: "", Dim: "2", Strong: "1", Accent: "", Warn: "1", Alarm: "1", Mark: "7"}

// A Span is text in one style.
type Span struct {
	Text  string
	Style Style
}

// A Line is one row of the terminal.
type Line struct {
	Spans    []Span
	Selected bool // the whole row is shown in reverse
}

// A Frame is all that a terminal shows, from the top. Rows that it lacks are empty.
type Frame []Line

// Text returns the line without its styles.
func (l Line) Text() string {
	text := ""
	for _, s := range l.Spans {
		text += s.Text
	}
	return text
}

// Of returns a line of one span.
func Of(text string, style Style) Line { return Line{Spans: []Span{{text, style}}} }
