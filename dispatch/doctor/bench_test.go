package doctor_test

import (
	"fmt"
	"testing"

	"github.com/docket-go/docket/dispatch/doctor"
	"github.com/docket-go/docket/timeline/session"
)

// BenchmarkExamine looks over a store of 1,000 sessions in which nothing is wrong; the
// looks at the machine are included.
func BenchmarkExamine(b *testing.B) {
	w := newWorld(b)
	for i := range 1000 {
		w.create(session.New{ID: fmt.Sprint("s", i), Adapter: "agent"})
	}
	b.ReportAllocs()
	for b.Loop() {
		var all findings
		for f := range doctor.Examine(b.Context(), doctor.Options{Store: w.store, Kinds: registry}) {
			all = append(all, f)
		}
		if got := all.problems(); len(got) != 0 {
			b.Fatalf("got %q, want no problem", got)
		}
		all.wants(b, "sessions", doctor.OK, "1000 sessions")
	}
}
