package httpread_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"testing"

	"github.com/docket-go/docket/timeline/httpread"
)

// A session says how much of what it is owed somebody has to decide about: as the
// embedder says, or as what is pending says.
func TestUnconfirmedAreCounted(t *testing.T) {
	pending := []httpread.Owed{{MID: "m0", State: "unconfirmed"}, {MID: "m1", State: "owed"}, {MID: "m2", State: "unconfirmed"}}
	says := func(n int) func(context.Context, string) (int, error) {
		return func(context.Context, string) (int, error) { return n, nil }
	}
	for _, tt := range []struct {
		name   string
		owed   []httpread.Owed
		change func(*httpread.Options)
		want   int // -1 where nobody can tell
	}{
		{"what is pending", pending, func(*httpread.Options) {}, 2},
		{"what the embedder says", pending, func(o *httpread.Options) { o.Unconfirmed = says(1) }, 1},
		{"nothing is owed", nil, func(o *httpread.Options) { o.Unconfirmed = says(1) }, 0},
		{"nobody can tell", pending, func(o *httpread.Options) { o.Pending, o.Count = nil, says(3) }, -1},
		{"nobody can tell even what is owed", pending, func(o *httpread.Options) { o.Pending = nil }, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := begin(t, tt.change)
			f.make("a")
			f.owed["a"] = tt.owed
			var s struct{ Unconfirmed *int }
			f.get("/api/sessions/a").into(t, &s)
			got := -1
			if s.Unconfirmed != nil {
				got = *s.Unconfirmed
			}
			if got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// What does not fit into an answer is counted: by the embedder, who need not yield it then,
// or to the end. An error of what is owed is one of the answer.
func TestPendingBeyondThePage(t *testing.T) {
	const owed = 10
	yielded := 0
	debts := func(context.Context, string) iter.Seq2[httpread.Owed, error] {
		return func(yield func(httpread.Owed, error) bool) {
			for yielded = 0; yielded < owed; {
				if yielded++; !yield(httpread.Owed{MID: strconv.Itoa(yielded)}, nil) {
					return
				}
			}
		}
	}
	count := func(context.Context, string) (int, error) { return owed, nil }
	broken := errors.New("the disk")
	for _, tt := range []struct {
		name    string
		change  func(*httpread.Options)
		status  int
		yielded int
	}{
		{"counted by the embedder", func(o *httpread.Options) { o.Debts, o.Count = debts, count }, http.StatusOK, 4},
		{"counted to the end", func(o *httpread.Options) { o.Debts, o.Count = debts, nil }, http.StatusOK, owed},
		{"no count", func(o *httpread.Options) {
			o.Debts, o.Count = debts, func(context.Context, string) (int, error) { return 0, broken }
		}, http.StatusInternalServerError, 4},
		{"no list", func(o *httpread.Options) {
			o.Pending = func(context.Context, string) ([]httpread.Owed, error) { return nil, broken }
			yielded = 0
		}, http.StatusInternalServerError, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := begin(t, tt.change)
			f.make("a")
			a := f.get("/api/sessions/a/pending?limit=3")
			if a.StatusCode != tt.status || yielded != tt.yielded {
				t.Fatalf("got %s after %d, want %d after %d", a.Status, yielded, tt.status, tt.yielded)
			}
			var list struct {
				Pending []struct{ MID string }
				Total   int
			}
			if tt.status != http.StatusOK {
				return
			}
			if a.into(t, &list); len(list.Pending) != 3 || list.Total != owed {
				t.Errorf("got %d of %d, want 3 of %d", len(list.Pending), list.Total, owed)
			}
		})
	}
}
