package httpread_test

import (
	"context"
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
