package tmux

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A pen is the state of the colours while captured rows are read.
type pen struct {
	dim, grey, inverse bool
	graphics           bool // the line-drawing character set is on
}

// parseLines reads what capture-pane -e prints.
func parseLines(out string) []line {
	rows := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	lines := make([]line, len(rows))
	var p pen
	for i, row := range rows {
		lines[i] = p.read(row)
	}
	return lines
}

func (p *pen) read(row string) line {
	var l line
	for len(row) > 0 {
		r, size := utf8.DecodeRuneInString(row)
		switch r {
		case 0x1b:
			size = 1 + sequenceBytes(r, row[1:])
			p.apply(row[1:size])
		case 0x0e, 0x0f:
			p.graphics = r == 0x0e
		default:
			if p.graphics {
				r = '─'
			}
			l = append(l, glyph{r, p.dim || p.grey, p.inverse})
		}
		row = row[size:]
	}
	return l
}

// apply follows one colour sequence, given without its ESC; others change
// nothing.
func (p *pen) apply(sequence string) {
	codes, ok := strings.CutPrefix(sequence, "[")
	if codes, ok = cutSuffix(codes, "m", ok); !ok {
		return
	}
	list := strings.FieldsFunc(codes, func(r rune) bool { return r == ';' || r == ':' })
	if len(list) == 0 {
		list = []string{"0"}
	}
	for i := 0; i < len(list); i++ {
		n, _ := strconv.Atoi(list[i])
		switch {
		case n == 0:
			p.dim, p.grey, p.inverse = false, false, false
		case n == 2:
			p.dim = true
		case n == 22:
			p.dim = false
		case n == 7, n == 27:
			p.inverse = n == 7
		case n == 38, n == 48, n == 58:
			grey, used := extended(list[i+1:])
			if n == 38 {
				p.grey = grey
			}
			i += used
		case n >= 30 && n <= 39, n >= 90 && n <= 97:
			p.grey = n == 90
		}
	}
}

func cutSuffix(s, suffix string, ok bool) (string, bool) {
	rest, has := strings.CutSuffix(s, suffix)
	return rest, ok && has
}

// extended reads the colour behind 38, 48 or 58: whether it is a grey that is
// neither dark nor bright, and how many parts it has.
func extended(list []string) (grey bool, used int) {
	n := make([]int, len(list))
	for i := range list {
		n[i], _ = strconv.Atoi(list[i])
	}
	switch {
	case len(n) >= 2 && n[0] == 5:
		return n[1] == 8 || n[1] >= 240 && n[1] <= 248, 2
	case len(n) >= 4 && n[0] == 2:
		low, high := min(n[1], n[2], n[3]), max(n[1], n[2], n[3])
		return high-low <= 40 && high >= 96 && high <= 176, 4
	}
	return false, len(n)
}

// isWord reports whether r belongs to what people read, not to frames and marks.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
