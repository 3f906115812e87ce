//go:build unix

package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/timeline/turn"
)

func init() { children["fill"] = fillChild }

// fillChild writes on a turn until the system takes no more bytes: in the middle of a
// line, wherever that is.
func fillChild(ctx context.Context, dir string) error {
	w, err := turn.Open(ctx, dir, turn.Options{SegmentBytes: -1, Faulted: func(err error) {
		fmt.Println("stopped", errors.Is(err, syscall.EFBIG))
	}})
	if err != nil {
		return err
	}
	t, err := w.Start(ctx, turn.Started{})
	if err != nil {
		return err
	}
	const most = 3000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: most, Max: most}); err != nil {
		return err
	}
	for {
		if _, err = t.Emit(ctx, turn.Native{}, turn.Text{Text: "some text"}); err != nil {
			break
		}
		fmt.Println("text")
	}
	_, later := t.Finish(ctx, turn.Native{}, turn.Finished{Outcome: turn.Success})
	if !errors.Is(err, turn.ErrFaulted) || !errors.Is(later, turn.ErrFaulted) {
		return fmt.Errorf("got %w and then %w, want %w", err, later, turn.ErrFaulted)
	}
	return nil
}

// A write that the system really refuses, after a part of it, faults the log: the
// producer is stopped, nothing is written behind, and the next writer goes on.
func TestWriteFailureOfTheSystem(t *testing.T) {
	dir := newDir(t)
	out, err := child("fill", dir).Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	texts := strings.Count(string(out), "text\n")
	if texts == 0 || !strings.HasSuffix(string(out), "text\nstopped true\n") {
		t.Fatalf("got %q, want some texts and then one stop", out)
	}
	if n := len(history(t, dir)); n != texts+1 {
		t.Errorf("got %d events, want the %d that were acknowledged", n, texts+1)
	}
	w := open(t, dir)
	tn, ok := w.Active()
	if !ok {
		t.Fatal("the turn is not open")
	}
	if e := finish(t, tn, gone); e.Seq != uint64(texts+1) {
		t.Errorf("got sequence %d, want %d", e.Seq, texts+1)
	}
}
