package feed_test

import (
	"context"
	"testing"

	"github.com/docket-go/docket/cmd/docket/internal/feed"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/session"
)

// Of a session that owes something it is told that nobody serves it, and of no other one.
func TestHostless(t *testing.T) {
	k := newKit(t)
	k.create("owes", "rests")
	for range 2 {
		_, err := k.d.SendText(t.Context(), "owes", dispatch.Message{Text: "hello", NoDrain: true})
		check(t, err)
	}
	asked := map[string]int{}
	f := k.feed(feed.Options{Hostless: func(_ context.Context, s *session.Session) string {
		asked[s.ID()]++
		return "its host\nwas killed"
	}})
	for id, want := range map[string]string{"owes": "its host;was killed", "rests": ""} {
		if r, there := f.Look(t.Context(), id); !there || r.Failed != want {
			t.Errorf("Look %s: got %q, want %q", id, r.Failed, want)
		}
	}
	d := f.Debts(t.Context(), "owes")
	if len(d.List) != 2 || d.List[0].Why != "its host;was killed" || d.List[1].Why != "" {
		t.Errorf("Debts: got %+v, want the reason with the first of two", d.List)
	}
	if d := f.Debts(t.Context(), "rests"); len(d.List) > 0 || asked["rests"] > 0 {
		t.Errorf("got debts %+v, asked %v, want no question about who owes nothing", d.List, asked)
	}
}
