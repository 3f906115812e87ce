package top_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
	"github.com/docket-go/docket/cmd/docket/internal/top"
)

// The list against a plain map that is sorted each time: its order, what it keeps, its
// sum, and a selection that stays on its session and in the window. It is long because it
// has an action for each way in which the list changes.
func TestList(t *testing.T) {
	ids := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
	rapid.Check(t, func(rt *rapid.T) {
		width, height := rapid.IntRange(1, 120).Draw(rt, "width"), rapid.IntRange(1, 30).Draw(rt, "height")
		m := top.New("/store", width, height, noon)
		want := map[string]top.Row{}
		filter, chosen := "", ""
		kept := func() (rows []top.Row) {
			for _, r := range want {
				if strings.Contains(r.ID+r.Word()+r.Title+r.Why()+r.Said, filter) {
					rows = append(rows, r)
				}
			}
			slices.SortFunc(rows, top.Compare)
			return rows
		}
		rt.Repeat(map[string]func(*rapid.T){
			"put": func(rt *rapid.T) {
				var b top.Batch
				for _, id := range rapid.SliceOfNDistinct(rapid.SampledFrom(ids), 1, 5, rapid.ID).Draw(rt, "ids") {
					want[id] = drawRow(rt, id)
					b.Rows = append(b.Rows, want[id])
				}
				m.Put(b)
			},
			"gone": func(rt *rapid.T) {
				id := rapid.SampledFrom(ids).Draw(rt, "id")
				delete(want, id)
				m.Put(top.Batch{Gone: []string{id}})
				if chosen == id {
					chosen = m.Selected()
				}
			},
			"move": func(rt *rapid.T) {
				m.Press(rapid.SampledFrom([]string{"j", "k", "g", "G", " ", "b"}).Draw(rt, "key"))
				chosen = m.Selected()
			},
			"filter": func(rt *rapid.T) {
				filter = rapid.SampledFrom([]string{"", "a", "parser", "ask", "nothing has this"}).Draw(rt, "filter")
				m.Press("/<ctrl+u>" + filter + "<enter>")
				chosen = ""
			},
			"resize": func(rt *rapid.T) {
				width, height = rapid.IntRange(1, 120).Draw(rt, "width"), rapid.IntRange(1, 30).Draw(rt, "height")
				m.Resize(width, height)
			},
			"": func(rt *rapid.T) {
				rows := kept()
				var order []string
				for _, r := range rows {
					order = append(order, r.ID)
				}
				if got := m.Order(); !slices.Equal(got, order) {
					rt.Fatalf("got %v, want %v", got, order)
				}
				selected := m.Selected()
				if len(order) > 0 && !slices.Contains(order, selected) {
					rt.Fatalf("selected %q of %v", selected, order)
				}
				switch {
				case !slices.Contains(order, chosen):
					chosen = ""
				case selected != chosen:
					rt.Fatalf("selected %q, and %q was chosen", selected, chosen)
				}
				f := m.Draw()
				fits(rt, f, width, height)
				if marked := slices.IndexFunc(f, func(l screen.Line) bool { return l.Selected }); height >= 7 && (marked >= 0) != (len(order) > 0) {
					rt.Fatalf("the selection is in row %d of\n%s", marked, text(f))
				}
			},
		})
	})
}

func TestSelectionIsTheFirstUntilSomebodyMoves(t *testing.T) {
	m := shown(80, 24, top.Row{ID: "b"})
	m.Put(top.Batch{Rows: []top.Row{{ID: "a"}}})
	if got := m.Selected(); got != "a" {
		t.Errorf("got %q", got)
	}
	m.Press("j")
	m.Put(top.Batch{Rows: []top.Row{{ID: "c", Status: "asking"}}})
	if got := m.Selected(); got != "b" {
		t.Errorf("the selection went to %q", got)
	}
}

// thousands is a large store.
func thousands(n int) (rows []top.Row) {
	for i := range n {
		r := top.Row{ID: fmt.Sprintf("session-%05d", i), Title: "one of many", Last: ago(0)}
		switch i % 5 {
		case 0:
			r.Status = "asking"
		case 1:
			r.Owed, r.Since = 1, ago(0)
		}
		rows = append(rows, r)
	}
	return rows
}

func TestManySessions(t *testing.T) {
	m := shown(80, 24, thousands(10_000)...)
	m.Press("G")
	if got := m.Selected(); got != "session-09999" {
		t.Errorf("got %q at the end", got)
	}
	if got := len(m.Visible()); got > 24 {
		t.Errorf("%d sessions are said to be visible", got)
	}
	fits(t, m.Draw(), 80, 24)
}

// A frame of 10,000 sessions, and a change of one of them.
func BenchmarkTenThousand(b *testing.B) {
	rows := thousands(10_000)
	m := shown(120, 50, rows...)
	b.Run("draw", func(b *testing.B) {
		for b.Loop() {
			m.Draw()
		}
	})
	b.Run("put", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			r := rows[i%len(rows)]
			r.Owed = i % 2
			r.Since = ago(0)
			m.Put(top.Batch{Rows: []top.Row{r}})
		}
	})
}
