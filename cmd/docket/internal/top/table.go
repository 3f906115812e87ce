package top

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// Table returns the rows as text, in their order: a line with the names of the columns,
// and one for each row. Nothing is cut off, and what a sign says on a terminal is a word
// here.
func Table(rows []Row, now time.Time) []string {
	m := &Model{now: now}
	cells := [][]string{{"SESSION", "NEEDS", "STATE", "OWED", "OLDEST", "LAST", "WHY"}}
	for _, r := range rows {
		owed := strconv.Itoa(r.Owed)
		if r.Uncounted {
			owed = "?"
		}
		cells = append(cells, []string{
			r.ID, cmp.Or(r.Need().Word(), "-"), r.Word(), owed, m.age(r.Since, r.Owed > 0), m.age(r.Last, !r.Last.IsZero()),
			cmp.Or(r.Why(), r.Title, "-"),
		})
	}
	widths := make([]int, len(cells[0])-1)
	for _, row := range cells {
		for i := range widths {
			widths[i] = max(widths[i], screen.Width(row[i]))
		}
	}
	lines := make([]string, len(cells))
	for i, row := range cells {
		var b strings.Builder
		for k, width := range widths {
			b.WriteString(screen.Fit(row[k], width) + "  ")
		}
		lines[i] = b.String() + row[len(widths)]
	}
	return lines
}
