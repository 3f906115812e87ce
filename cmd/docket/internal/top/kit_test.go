package top_test

import (
	"strings"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
	"github.com/docket-go/docket/cmd/docket/internal/top"
)

// noon is the time of the tests.
var noon = time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// team is a store with one session of each need, and more.
func team() []top.Row {
	return []top.Row{
		{ID: "lead", Title: "plans the release", Status: "active", Said: "cutting the branch", Last: ago(2 * time.Minute)},
		{ID: "worker-1", Title: "parser", Status: "active", Owed: 12, Since: ago(3 * time.Hour), Failed: "busy, exit status 75", Last: ago(time.Minute)},
		{ID: "worker-2", Title: "docs", Status: "asking", Said: "which branch do the docs for the new reader go to: main or release-2?", Last: ago(5 * time.Second)},
		{ID: "worker-3", Title: "tests", Owed: 2, Unconfirmed: true, Since: ago(40 * time.Second), Failed: "signal: killed", Last: ago(41 * time.Second)},
		{ID: "reviewer-of-everything-that-is-long", Title: "漢字の名前", Status: "awaiting", Proposal: "merge", Said: "the parser is ready: 12 files, e\u0301 👍🏽", Last: ago(49 * time.Hour)},
		{ID: "broken", Bad: "its queue cannot be read: see docket repair broken", Uncounted: true},
		{ID: "stuck", Status: "error", Said: "no disk space left", Last: ago(30 * time.Minute)},
		{ID: "done", Status: "awaiting", Proposal: "nothing", Last: ago(10 * time.Hour)},
		{ID: "waits", Status: "parked", Said: "for CI", Last: ago(11 * time.Hour)},
		{ID: "new"},
		{ID: "old", Status: "asking", Set: true, Marks: "archived", Last: ago(900 * time.Hour)},
	}
}

// shown is a model of the team.
func shown(width, height int, rows ...top.Row) *top.Model {
	if rows == nil {
		rows = team()
	}
	m := top.New("/home/ada/.local/state/docket", width, height, noon)
	m.Put(top.Batch{Rows: rows})
	return m
}

func debts(id string) top.Debts {
	return top.Debts{Session: id, List: []top.Debt{
		{MID: "m1", Name: "m1", From: "human", Text: "tag the release", Since: ago(40 * time.Second), Attempts: 1, Last: ago(40 * time.Second), Why: "signal: killed", Unconfirmed: true},
		{MID: "m2", Name: "m2", From: "lead", Text: "and push it\nto both remotes\nand tell me\nwhen it is done", Since: ago(30 * time.Second)},
	}}
}

func talk(id string) top.Page {
	return top.Page{Session: id, Live: true, First: true, Events: []top.Event{
		{Seq: 0, Time: ago(26 * time.Hour), Word: "working"},
		{Seq: 1, Time: ago(time.Minute), MID: "m0", Who: "lead", Text: "run the tests, all of them, and say which of them were flaky before"},
		{Seq: 2, Time: ago(40 * time.Second), MID: "m1", Who: "human", Note: true, Text: "tag the release\n\n    git tag v2"},
		{Seq: 3, Time: ago(5 * time.Second), Word: "asking", Text: "which branch: 漢字 or e\u0301?"},
	}}
}

// text is a frame as it looks, with the selected row marked at its end, and no blanks
// there.
func text(f screen.Frame) string {
	var b strings.Builder
	for _, l := range f {
		row := strings.TrimRight(l.Text(), " ")
		if l.Selected {
			row += " <selected"
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return b.String()
}

// fits checks that a frame is no larger than the terminal.
func fits(t interface {
	Helper()
	Errorf(string, ...any)
}, f screen.Frame, width, height int) {
	t.Helper()
	if len(f) > height {
		t.Errorf("%d rows on a terminal of %d", len(f), height)
	}
	for i, l := range f {
		if w := screen.Width(l.Text()); w > width {
			t.Errorf("row %d takes %d columns of %d: %q", i, w, width, l.Text())
		}
	}
}
