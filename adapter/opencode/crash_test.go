package opencode_test

import (
	"fmt"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/opencode"
)

// steps are the points inside Insert at which a process can die, with what is known of
// its message then.
var steps = []struct {
	step  string
	fresh bool // with no session of opencode yet
	want  adapter.Presence
}{
	{"opencode: session made", true, adapter.Absent},
	{"adapter/smallfile: session is drafted", true, adapter.Absent},
	{"opencode: begun", true, adapter.CannotTell},
	{"opencode: begun", false, adapter.CannotTell},
	{"opencode: sent", false, adapter.Present},
	{"opencode: shown", false, adapter.Present},
}

func TestCrashInsideInsert(t *testing.T) {
	t.Parallel()
	for _, tt := range steps {
		s, dir := startServer(t), t.TempDir()
		a := open(t, dir, opencode.Options{URL: s.http.URL})
		n := 1
		if !tt.fresh {
			if err := a.Insert(t.Context(), prompt("m1", "before")); err != nil {
				t.Fatal(err)
			}
			n++
		}
		dieInside(t, tt.step, s.http.URL, dir, "m2", "two")
		if got, err := a.Lookup(t.Context(), "m2"); got != tt.want || err != nil {
			t.Errorf("%s: Lookup: got %s, %v, want %s", tt.step, got, err, tt.want)
		}
		for i := range 3 {
			if err := a.Insert(t.Context(), prompt("m2", "two")); err != nil {
				t.Errorf("%s: Insert %d after it: got %v, want taken", tt.step, i, err)
			}
		}
		if got, err := a.Lookup(t.Context(), "m2"); got != adapter.Present || err != nil {
			t.Errorf("%s: Lookup in the end: got %s, %v, want present", tt.step, got, err)
		}
		if got, err := s.received(); err != nil || len(got) != n || got[n-1].MID != "m2" || s.posts != n {
			t.Errorf("%s: got %s, %v by %d requests, want m2 once", tt.step, fmt.Sprint(got), err, s.posts)
		}
	}
}
