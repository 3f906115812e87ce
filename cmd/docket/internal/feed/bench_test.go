package feed_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/feed"
	"github.com/docket-go/docket/cmd/docket/internal/top"
)

// BenchmarkLook is one row of the terminal: a session that has said something and is owed
// a message.
func BenchmarkLook(b *testing.B) {
	k := newKit(b)
	k.create("s1")
	k.declare("s1", "active", "at work")
	k.send("s1", "run the tests")
	f := k.feed(feed.Options{})
	b.ReportAllocs()
	for b.Loop() {
		if row, there := f.Look(b.Context(), "s1"); !there || row.Owed != 1 || row.Word() != "working" {
			b.Fatalf("got %+v", row)
		}
	}
}

// BenchmarkFollow is the time from the beginning until a view knows all of 1,000
// sessions.
func BenchmarkFollow(b *testing.B) {
	k := newKit(b)
	for i := range 1000 {
		k.create(fmt.Sprint("s", i))
	}
	f := k.feed(feed.Options{Poll: time.Hour})
	b.ReportAllocs()
	for b.Loop() {
		known := 0
		ctx, enough := context.WithCancel(b.Context())
		err := f.Follow(ctx, func() []string { return nil }, func(batch top.Batch) {
			if known += len(batch.Rows); batch.Left == 0 {
				enough()
			}
		})
		if err != nil || known != 1000 {
			b.Fatalf("got %d sessions, %v, want 1,000", known, err)
		}
	}
}
