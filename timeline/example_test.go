package timeline_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/docket-go/docket/timeline"
)

// tempLog opens a log in a new session directory, with a clock that stands still.
func tempLog() (l *timeline.Log, remove func()) {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		log.Fatal(err)
	}
	l, err = timeline.Open(dir, timeline.Options{Session: "worker-1", Now: func() time.Time { return now }})
	if err != nil {
		log.Fatal(err)
	}
	return l, func() { l.Close(); os.RemoveAll(dir) }
}

func ExampleLog_Append() {
	l, remove := tempLog()
	defer remove()
	ctx := context.Background()

	w, err := l.Append(ctx,
		timeline.Sent{MID: "m1", Text: "run the tests", ReplyVia: timeline.Note},
		timeline.Status{Status: "awaiting", Proposal: "merge", Note: "all pass"},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("sequences", w.FirstSeq, "to", w.NextSeq)
	for e, err := range l.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s\n", e.JSON())
	}
	// Output:
	// sequences 0 to 2
	// {"ts":"2026-11-30T09:30:15.780Z","kind":"sent","mid":"m1","text":"run the tests","from":null,"replyVia":"note"}
	// {"ts":"2026-11-30T09:30:15.780Z","kind":"status","status":"awaiting","proposal":"merge","note":"all pass"}
}

// A log is passed on as it is shown, and nothing is decoded for it.
func ExampleLog_Lines() {
	l, remove := tempLog()
	defer remove()
	ctx := context.Background()

	if _, err := l.Append(ctx, timeline.Sent{MID: "m1", Text: "run the tests"}, timeline.Status{Status: "active"}); err != nil {
		log.Fatal(err)
	}
	for line, err := range l.Lines(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// {"ts":"2026-11-30T09:30:15.780Z","kind":"sent","mid":"m1","text":"run the tests","from":null}
	// {"ts":"2026-11-30T09:30:15.780Z","kind":"status","status":"active","proposal":null,"note":null}
}

func ExampleLog_Tail() {
	l, remove := tempLog()
	defer remove()
	ctx := context.Background()

	for i := range 100 {
		if _, err := l.Append(ctx, timeline.Sent{MID: fmt.Sprint("m", i), Text: fmt.Sprint("message ", i)}); err != nil {
			log.Fatal(err)
		}
	}
	page, err := l.Tail(ctx, 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range page.Events {
		fmt.Println(e.Seq, e.Text)
	}
	// Output:
	// 98 message 98
	// 99 message 99
}

// A page that is shown again and again is read into the memory that it has.
func ExampleLog_TailInto() {
	l, remove := tempLog()
	defer remove()
	ctx := context.Background()

	var page timeline.Page
	for _, text := range []string{"run the tests", "and the race detector", "now merge"} {
		if _, err := l.Append(ctx, timeline.Sent{MID: text, Text: text}); err != nil {
			log.Fatal(err)
		}
		if err := l.TailInto(ctx, &page, 2); err != nil {
			log.Fatal(err)
		}
		for _, e := range page.Events {
			fmt.Printf("[%d %s]", e.Seq, e.Text)
		}
		fmt.Println()
	}
	// Output:
	// [0 run the tests]
	// [0 run the tests][1 and the race detector]
	// [1 and the race detector][2 now merge]
}

func ExampleLog_Follow() {
	l, remove := tempLog()
	defer remove()
	ctx := context.Background()

	if _, err := l.Append(ctx, timeline.Sent{MID: "m1", Text: "run the tests"}); err != nil {
		log.Fatal(err)
	}
	for u, err := range l.Follow(ctx, timeline.FollowOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		if u.CaughtUp { // from here on it waits for news
			fmt.Println("caught up")
			if _, err := l.Append(ctx, timeline.Status{Status: "active"}); err != nil {
				log.Fatal(err)
			}
			continue
		}
		fmt.Println(u.Event.Kind, u.Event.Text+u.Event.Display())
		if u.Event.Kind == timeline.KindStatus {
			break
		}
	}
	// Output:
	// sent run the tests
	// caught up
	// status working
}

// A cursor is kept as text, and reading goes on from it in another process.
func ExampleCursor() {
	l, remove := tempLog()
	defer remove()
	ctx := context.Background()

	page, err := l.Tail(ctx, 10)
	if err != nil {
		log.Fatal(err)
	}
	kept := page.Next.String()

	if _, err := l.Append(ctx, timeline.Status{Status: "asking", Note: "which branch?"}); err != nil {
		log.Fatal(err)
	}
	c, err := timeline.ParseCursor(kept)
	if err != nil {
		log.Fatal(err)
	}
	for e, err := range l.From(ctx, c) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Status, e.Note)
	}
	// Output: asking which branch?
}
