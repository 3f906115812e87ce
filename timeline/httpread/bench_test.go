package httpread_test

import (
	"fmt"
	"testing"
)

// BenchmarkTimeline is a page of 500 events, by HTTP.
func BenchmarkTimeline(b *testing.B) {
	f := begin(b)
	f.numbered(f.make("a"), 0, 1000)
	const path = "/api/sessions/a/timeline?limit=500"
	want := f.get(path).body
	if p := f.page(path); len(p.Events) != 500 || p.Events[499].MID != "m999" {
		b.Fatalf("got %d events, want the last 500", len(p.Events))
	}
	b.SetBytes(int64(len(want)))
	b.ReportAllocs()
	for b.Loop() {
		if got := f.get(path).body; len(got) != len(want) {
			b.Fatalf("got %d bytes, want %d", len(got), len(want))
		}
	}
}

// BenchmarkSessions is a list of 1,000 sessions, in two pages, by HTTP.
func BenchmarkSessions(b *testing.B) {
	f := begin(b)
	for i := range 1000 {
		f.numbered(f.make(fmt.Sprintf("s%03d", i)), 0, 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		listed := 0
		for after, more := "", true; more; {
			var l list
			f.get("/api/sessions?after="+after).into(b, &l)
			listed += len(l.Sessions)
			if more = l.Next != nil; more {
				after = *l.Next
			}
		}
		if listed != 1000 {
			b.Fatalf("got %d sessions, want 1,000", listed)
		}
	}
}

// BenchmarkStream is the time from an append until a client has the event, of one session
// and of all.
func BenchmarkStream(b *testing.B) {
	for name, path := range map[string]string{"session": "/api/sessions/a/events", "all": "/api/events"} {
		b.Run(name, func(b *testing.B) {
			f := begin(b)
			s := f.make("a")
			c := f.follow(path + "?after=end")
			c.want("caught-up")
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				f.numbered(s, i, 1)
				if mid, _ := c.mid(); mid != fmt.Sprint("m", i) {
					b.Fatalf("got %s, want m%d", mid, i)
				}
			}
			c.leave()
		})
	}
}
