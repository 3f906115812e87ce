package race

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Print writes the result as a table for people.
func (r Result) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", r.Workload.Name, r.Workload.About)
	rows := [][]string{{"", "median", "min", "max", "ratio", "rounds x operations"}}
	for _, row := range r.Rows {
		rows = append(rows, r.cells(row))
	}
	write(&b, rows)
	for _, v := range r.Verdicts {
		fmt.Fprintf(&b, "  target: %s: %s, %s\n", v.Target.text(r.Workload.Unit), v.got(r.Workload.Unit), v.word())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// word says for people whether the target was met.
func (v Verdict) word() string {
	if v.Met {
		return "met"
	}
	return "NOT MET"
}

func (r Result) cells(row Row) []string {
	if row.Absent != "" {
		return []string{row.Contestant, row.Absent}
	}
	u := r.Workload.Unit
	ratio := ""
	switch {
	case row.Contestant == r.Workload.Limit:
		ratio = "limit"
	case r.Workload.Limit != "":
		ratio = number(row.Ratio)
	}
	return []string{
		row.Contestant, u.format(row.Median), u.format(row.Min), u.format(row.Max), ratio,
		fmt.Sprintf("%d x %d", row.Rounds, row.Operations),
	}
}

// write aligns the cells: the first column to the left, the others to the right.
func write(b *strings.Builder, rows [][]string) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if len(row) == len(rows[0]) {
				widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			}
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			gap := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
			if i == 0 {
				line = "  " + cell + gap
			} else {
				line += "  " + gap + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// rowLine and verdictLine are the lines for machines.
type rowLine struct {
	Workload   string  `json:"workload"`
	Contestant string  `json:"contestant"`
	Unit       string  `json:"unit"`
	Median     float64 `json:"median"`
	Min        float64 `json:"min"`
	Max        float64 `json:"max"`
	Limit      string  `json:"limit,omitempty"`
	Ratio      float64 `json:"ratio,omitempty"`
	Rounds     int     `json:"rounds"`
	Operations int     `json:"operations"`
	Absent     string  `json:"absent,omitempty"`
}

type verdictLine struct {
	Workload string  `json:"workload"`
	Target   string  `json:"target"`
	Of       string  `json:"of"`
	To       string  `json:"to,omitempty"`
	AtMost   float64 `json:"atMost,omitempty"`
	AtLeast  float64 `json:"atLeast,omitempty"`
	Got      float64 `json:"got"`
	Met      bool    `json:"met"`
}

// Lines writes the result as one JSON object a line: a line with "contestant" for
// each contestant, then one with "target" for each target.
func (r Result) Lines(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	name, unit := r.Workload.Name, r.Workload.Unit
	for _, row := range r.Rows {
		line := rowLine{
			name, row.Contestant, unit.String(), row.Median, row.Min, row.Max,
			r.Workload.Limit, row.Ratio, row.Rounds, row.Operations, row.Absent,
		}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	for _, v := range r.Verdicts {
		t := v.Target
		if err := enc.Encode(verdictLine{name, t.text(unit), t.Of, t.To, t.AtMost, t.AtLeast, v.Got, v.Met}); err != nil {
			return err
		}
	}
	return nil
}
