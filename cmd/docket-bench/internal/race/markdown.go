package race

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the result as a table and a list of targets, to be put in a page.
func (r Result) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**: %s.\n\n| | median | min | max | ratio |\n|---|---:|---:|---:|---:|\n",
		r.Workload.Name, inTable(r.Workload.About))
	for _, row := range r.Rows {
		cells := r.cells(row)
		for len(cells) < 5 { // an absent one says why, and has no figures
			cells = append(cells, "")
		}
		for _, cell := range cells[:5] {
			fmt.Fprintf(&b, "| %s ", inTable(cell))
		}
		b.WriteString("|\n")
	}
	if len(r.Verdicts) > 0 {
		b.WriteString("\n")
	}
	for _, v := range r.Verdicts {
		fmt.Fprintf(&b, "- %s: %s, %s\n", inTable(v.Target.text(r.Workload.Unit)), v.got(r.Workload.Unit), v.word())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// inTable writes text so that Markdown shows it as it is.
func inTable(text string) string {
	return strings.NewReplacer("|", `\|`, "<", "&lt;", "*", `\*`, "_", `\_`).Replace(text)
}
