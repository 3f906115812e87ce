package queue_test

import (
	"context"
	"fmt"
	"os"

	"github.com/docket-go/docket/queue"
)

// A queue needs a directory and nothing else. The first pass meets an agent that is
// busy after one message; what it did not take stays, in order.
func Example() {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	q, err := queue.Open(dir, queue.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()

	ctx := context.Background()
	record, err := q.Locks().Record(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, text := range []string{"run the tests", "fix what fails", "say when it is done"} {
		if err := q.Enqueue(record, queue.Entry{MID: fmt.Sprintf("m%d", i+1), Text: text}); err != nil {
			fmt.Println(err)
		}
	}
	record.Release()

	room := 1
	insert := func(_ context.Context, e queue.Entry) (queue.Answer, error) {
		if room == 0 {
			return queue.Refused, fmt.Errorf("the agent is busy")
		}
		room--
		fmt.Println("agent got:", e.Text)
		return queue.Taken, nil
	}
	delivery, err := q.Locks().Delivery(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer delivery.Release()
	drained, err := q.Drain(ctx, delivery, queue.Handover{Insert: insert})
	fmt.Println("delivered:", drained.MIDs, "owed:", drained.Owed)
	fmt.Println("stopped:", err)

	owed, err := q.List()
	for _, e := range owed {
		fmt.Printf("%s %q attempts=%d\n", e.MID, e.Text, e.Attempts)
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// agent got: run the tests
	// delivered: [m1] owed: 2
	// stopped: message m2: refused: the agent is busy
	// m2 "fix what fails" attempts=1
	// m3 "say when it is done" attempts=0
}

// However much is owed, one entry after the other is looked at.
func ExampleQueue_All() {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	q, err := queue.Open(dir, queue.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()
	record, err := q.Locks().Record(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, mid := range []string{"m1", "m2", "m3"} {
		if err := q.Enqueue(record, queue.Entry{MID: mid, From: "lead", Text: "run the tests of " + mid}); err != nil {
			fmt.Println(err)
		}
	}
	record.Release()

	for e, err := range q.All() {
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Println(e.MID, e.Text)
		if e.MID == "m2" {
			break
		}
	}
	// Output:
	// m1 run the tests of m1
	// m2 run the tests of m2
}

// Of a deep queue Find reads as little as it can to answer whether some messages are owed
// still, and how often the oldest was tried.
func ExampleQueue_Find() {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	q, err := queue.Open(dir, queue.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()
	record, err := q.Locks().Record(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range 1000 {
		if err := q.Enqueue(record, queue.Entry{MID: fmt.Sprintf("m%d", i), Text: "go on"}); err != nil {
			fmt.Println(err)
		}
	}
	record.Release()

	found, err := q.Find("m998", "m2000")
	for _, mid := range []string{"m998", "m2000"} {
		_, owed := found[mid]
		fmt.Println(mid, "owed:", owed)
	}
	fmt.Println("error:", err)
	// Output:
	// m998 owed: true
	// m2000 owed: false
	// error: <nil>
}
