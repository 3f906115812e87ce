package feed_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/feed"
	"github.com/docket-go/docket/cmd/docket/internal/top"
	"github.com/docket-go/docket/timeline/session"
)

// An agent that declared nothing is shown at work while it is. The end of its turn
// changes nothing in the directory, and is noticed all the same.
func TestFollowSeesATurnEnd(t *testing.T) {
	k := newKit(t)
	k.create("s1", "s2")
	k.declare("s2", session.StatusParked, "")
	var over atomic.Bool
	seen := follow(t, k.feed(feed.Options{
		Poll: 300 * time.Millisecond, // all are looked at in more than a minute
		AtWork: func(_ context.Context, s *session.Session, _ session.Record) bool {
			if s.ID() != "s1" {
				t.Errorf("asked about %s, which declared something", s.ID())
			}
			return !over.Load()
		},
	}))
	seen.until(t, "s1 works", func(r map[string]top.Row) bool {
		return r["s1"].Word() == "working" && r["s1"].Need() == top.Work && r["s2"].Word() == "parked"
	})
	over.Store(true)
	seen.until(t, "s1 rests", func(r map[string]top.Row) bool { return r["s1"].Word() == "-" && r["s1"].Need() == top.Rest })
}
