package screen

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// ellipsis stands for what was cut off.
const ellipsis = "…"

// Width returns how many columns text takes.
func Width(text string) int { return displaywidth.String(text) }

// Cut returns text in at most width columns. Where something had to go, its place is
// marked.
func Cut(text string, width int) string {
	if width <= 0 {
		return ""
	}
	if len(text) <= width {
		return text // no character takes more columns than bytes
	}
	return displaywidth.TruncateString(text, width, ellipsis)
}

// Fit returns text in exactly width columns.
func Fit(text string, width int) string {
	text = Cut(text, width)
	return text + blank(width-Width(text))
}

// FitRight is Fit for what stands to the right of its column, such as a number.
func FitRight(text string, width int) string {
	text = Cut(text, width)
	return blank(width-Width(text)) + text
}

func blank(columns int) string { return strings.Repeat(" ", max(columns, 0)) }

// A Piece is one row of a text that was wrapped.
type Piece struct {
	Text string
	At   int // byte in the text where it begins
}

// Wrap returns the rows of text, each of at most width columns but for a
// character that is wider itself. It breaks at spaces
// where it can. A tab counts as four spaces.
func Wrap(text string, width int) []Piece {
	width = max(width, 1)
	var rows []Piece
	at := 0
	for line := range strings.SplitSeq(text, "\n") {
		rows = wrapLine(rows, line, at, width)
		at += len(line) + 1
	}
	return rows
}

// wrapLine appends the rows of a line that begins at the byte at of its text.
func wrapLine(rows []Piece, line string, at, width int) []Piece {
	begin, space, columns := 0, -1, 0 // of the row: its start, the place behind its last space, its width
	clusters := displaywidth.StringGraphemes(line)
	i := 0
	for ; clusters.Next(); i += len(clusters.Value()) {
		value, w := clusters.Value(), clusters.Width()
		if value == "\t" {
			w = len(tab)
		}
		for columns+w > width && i > begin {
			end := i
			if space > begin && value != " " {
				end = space
			}
			rows = append(rows, pieceOf(line[begin:end], at+begin))
			begin, space, columns = end, -1, widthOf(line[end:i])
		}
		if value == " " && i == begin && i > 0 && columns == 0 {
			begin++ // the break took its place
			continue
		}
		columns += w
		if value == " " || value == "\t" {
			space = i + len(value)
		}
	}
	return append(rows, pieceOf(line[begin:], at+begin))
}

const tab = "    "

func pieceOf(text string, at int) Piece {
	return Piece{strings.TrimRight(strings.ReplaceAll(text, "\t", tab), " "), at}
}

func widthOf(text string) int { return Width(strings.ReplaceAll(text, "\t", tab)) }
