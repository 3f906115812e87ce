package timeline_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
)

const (
	writers       = 3
	linesOfWriter = 40
)

// writerMain is a process that appends to the log of dir, under the name that it
// was given, and seals from time to time.
func writerMain(dir string) int {
	name := os.Getenv("TIMELINE_TEST_NAME")
	l, err := timeline.Open(dir, timeline.Options{SegmentBytes: 2000, Buffered: name == "w0"})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for i := range linesOfWriter {
		_, err := l.Append(context.Background(), timeline.Sent{MID: fmt.Sprintf("%s-%d", name, i), Text: "go", From: name}, timeline.Settled{MID: "x"})
		if err == nil && name == "w1" && i%10 == 0 {
			_, err = l.Seal(context.Background())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

// Processes append while followers in another process read: each follower sees
// each event once, in order, with one mark.
func TestProcessesAppendWhileOthersFollow(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()

	var followers sync.WaitGroup
	for _, o := range []timeline.FollowOptions{{}, {}, {Poll: -time.Millisecond}, {Mode: timeline.TailOnly}} {
		updates := l.Follow(ctx, o) // before the first line, also for TailOnly
		followers.Go(func() { followAll(t, o, updates) })
	}
	var processes sync.WaitGroup
	for i := range writers {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "TIMELINE_TEST_WRITER="+dir, fmt.Sprintf("TIMELINE_TEST_NAME=w%d", i))
		cmd.Stderr = os.Stderr
		processes.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Error(err)
				cancel()
			}
		})
	}
	processes.Wait()
	followers.Wait()

	next := map[string]int{} // each writer's lines are in its order
	for _, e := range all(t, l) {
		if want := fmt.Sprintf("%s-%d", e.From, next[e.From]); e.MID != want {
			t.Errorf("event %d: got %s, want %s", e.Seq, e.MID, want)
		}
		next[e.From]++
	}
	if faults, err := l.Verify(t.Context()); err != nil || len(faults) != 0 {
		t.Errorf("Verify: %v, %v", faults, err)
	}
}

// followAll follows the empty log until everything that the writers write was seen.
func followAll(t *testing.T, o timeline.FollowOptions, updates iter.Seq2[timeline.Update, error]) {
	marks := 0
	want := uint64(0)
	for u, err := range updates {
		switch {
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			t.Errorf("%+v: saw %d events in time, want %d", o, want, writers*linesOfWriter)
			return
		case err != nil:
			t.Errorf("%+v: %v", o, err)
			return
		case u.CaughtUp:
			marks++
			continue
		case u.Event.Seq != want:
			t.Errorf("%+v: got event %d, want %d", o, u.Event.Seq, want)
			return
		}
		if want++; want == writers*linesOfWriter {
			break
		}
	}
	if marks != 1 {
		t.Errorf("%+v: got %d marks, want one", o, marks)
	}
}
