package top_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/cmd/docket/internal/top"
)

func TestNeed(t *testing.T) {
	for _, tt := range []struct {
		name string
		row  top.Row
		want top.Need
	}{
		{"says nothing", top.Row{}, top.Rest},
		{"works", top.Row{Status: "active"}, top.Work},
		{"asks", top.Row{Status: "asking"}, top.Answer},
		{"failed", top.Row{Status: "error"}, top.Answer},
		{"proposes a merge", top.Row{Status: "awaiting", Proposal: "merge"}, top.Review},
		{"proposes to be closed", top.Row{Status: "awaiting", Proposal: "close"}, top.Review},
		{"is done", top.Row{Status: "awaiting", Proposal: "nothing"}, top.Rest},
		{"is owed something", top.Row{Status: "active", Owed: 1}, top.Deliver},
		{"asks, and is owed something", top.Row{Status: "asking", Owed: 1}, top.Answer},
		{"has an unconfirmed message", top.Row{Status: "active", Owed: 1, Unconfirmed: true}, top.Decide},
		{"cannot be read", top.Row{Bad: "damage"}, top.Decide},
		{"is archived", top.Row{Status: "asking", Set: true}, top.History},
		{"is archived, and is owed something", top.Row{Set: true, Owed: 1}, top.Deliver},
		{"is being handed a message", top.Row{Status: "idle", Owed: 2, Handing: true}, top.Work},
		{"is archived, and is being handed a message", top.Row{Status: "asking", Set: true, Owed: 1, Handing: true}, top.Work},
		{"asks, and is being handed a message", top.Row{Status: "asking", Owed: 1, Handing: true}, top.Answer},
		{"is archived, with an unconfirmed message", top.Row{Set: true, Owed: 1, Unconfirmed: true}, top.Decide},
	} {
		if got := tt.row.Need(); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestWhy(t *testing.T) {
	for _, tt := range []struct {
		name string
		row  top.Row
		want string
	}{
		{"nothing to say", top.Row{}, ""},
		{"the note", top.Row{Status: "parked", Said: "for CI"}, "for CI"},
		{"the refusal comes before the note", top.Row{Status: "active", Said: "on it", Owed: 1, Failed: "busy"}, "busy"},
		{"a question stands beside the refusal", top.Row{Status: "asking", Said: "which?", Owed: 1, Failed: "busy"}, "busy; which?"},
		{"being handed over", top.Row{Owed: 1, Handing: true}, "being handed over now"},
		{"unconfirmed", top.Row{Owed: 1, Unconfirmed: true, Failed: "killed"}, "unconfirmed: killed"},
		{"unconfirmed for no known reason", top.Row{Owed: 1, Unconfirmed: true}, "unconfirmed: nobody knows whether it arrived"},
		{"an error that is over", top.Row{Failed: "busy"}, ""}, // nothing is owed any more
		{"a fault", top.Row{Bad: "damage"}, "fault: damage"},
		{"marks", top.Row{Said: "bye", Marks: "archived"}, "bye; archived"},
	} {
		if got := tt.row.Why(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestOrderOfTheTeam(t *testing.T) {
	got := strings.Join(shown(80, 24).Order(), " ")
	const want = "broken worker-3 stuck worker-2 reviewer-of-everything-that-is-long worker-1 lead done waits new old"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What waits longest comes first among those that need something, and what moved last
// among the others.
func TestOrderWithinANeed(t *testing.T) {
	long, short := ago(time.Hour), ago(time.Minute)
	for _, tt := range []struct {
		name string
		a, b top.Row // a comes first
	}{
		{"the older debt", top.Row{ID: "z", Owed: 1, Since: long, Last: short}, top.Row{ID: "a", Owed: 9, Since: short, Last: long}},
		{"the older question", top.Row{ID: "z", Status: "asking", Last: long}, top.Row{ID: "a", Status: "asking", Last: short}},
		{"the fresher work", top.Row{ID: "z", Status: "active", Last: short}, top.Row{ID: "a", Status: "active", Last: long}},
		{"the id", top.Row{ID: "a"}, top.Row{ID: "z"}},
	} {
		if top.Compare(tt.a, tt.b) >= 0 || top.Compare(tt.b, tt.a) <= 0 {
			t.Errorf("%s does not come first", tt.name)
		}
	}
}

func drawRow(t *rapid.T, id string) top.Row {
	r := top.Row{
		ID:          id,
		Status:      rapid.SampledFrom([]string{"", "active", "asking", "awaiting", "parked", "error", "odd"}).Draw(t, "status"),
		Owed:        rapid.IntRange(0, 3).Draw(t, "owed"),
		Set:         rapid.Bool().Draw(t, "set"),
		Bad:         rapid.SampledFrom([]string{"", "", "", "damage"}).Draw(t, "bad"),
		Last:        ago(time.Duration(rapid.IntRange(0, 5).Draw(t, "last")) * time.Minute),
		Title:       rapid.SampledFrom([]string{"", "漢字", "parser", "e\u0301"}).Draw(t, "title"),
		Said:        rapid.SampledFrom([]string{"", "which?", strings.Repeat("漢", 90)}).Draw(t, "said"),
		Unconfirmed: rapid.Bool().Draw(t, "unconfirmed"),
	}
	if r.Unconfirmed = r.Unconfirmed && r.Owed > 0; r.Owed > 0 {
		r.Since = ago(time.Duration(rapid.IntRange(0, 5).Draw(t, "since")) * time.Minute)
	}
	return r
}

// The order is total, and its first rows are those that need a person.
func TestOrderIsTotal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var rows []top.Row
		for _, id := range []string{"a", "b", "c", "d", "e", "f"} {
			rows = append(rows, drawRow(rt, id))
		}
		sorted := slices.SortedFunc(slices.Values(rows), top.Compare)
		slices.Reverse(rows)
		again := slices.SortedFunc(slices.Values(rows), top.Compare)
		for i := range sorted {
			if sorted[i].ID != again[i].ID {
				rt.Fatalf("the order depends on the one before: %v, %v", sorted, again)
			}
			if i > 0 && sorted[i].Need() < sorted[i-1].Need() {
				rt.Fatalf("%v comes behind %v", sorted[i], sorted[i-1])
			}
		}
	})
}
