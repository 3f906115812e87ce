package dispatch_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/dispatch"
)

func init() { roles["sweep"] = sweepUntilTold }

// sweepUntilTold runs a sweeper until its stdin ends.
func sweepUntilTold(ctx context.Context, _ job, d *dispatch.Dispatcher) error {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		os.Stdin.Read(make([]byte, 1))
		cancel()
	}()
	err := dispatch.NewSweeper(d, dispatch.SweepOptions{
		Interval: 50 * time.Millisecond, MinBackoff: time.Millisecond, MaxBackoff: 20 * time.Millisecond,
	}).Run(ctx)
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Sweepers and senders of some sessions race as processes. Each message that was
// accepted is at its agent once, in the order of the timeline.
func TestRacingSweepersDeliverOnceAndInOrder(t *testing.T) {
	const sessions, senders, count = 3, 2, 20
	w := newWorld(t)
	inboxes := t.TempDir()
	id := func(i int) string { return fmt.Sprint("s", i) }
	var sweeping, sending []*exec.Cmd
	var ends []io.Closer
	for range 2 {
		cmd := command(t, "sweep", job{Store: w.dir})
		end, err := cmd.StdinPipe()
		must(t, err)
		must(t, cmd.Start())
		sweeping, ends = append(sweeping, cmd), append(ends, end)
	}
	var outs [sessions * senders]bytes.Buffer
	for i := range sessions {
		w.createFile(id(i), filepath.Join(inboxes, id(i)))
		for n := range senders {
			cmd := command(t, "send", job{Store: w.dir, Session: id(i), Name: fmt.Sprint(i, n), Count: count})
			cmd.Stdout = &outs[i*senders+n]
			must(t, cmd.Start())
			sending = append(sending, cmd)
		}
	}
	for _, cmd := range sending {
		must(t, cmd.Wait())
	}
	for i := range sessions {
		eventually(t, "nothing is owed", func() bool { return len(w.pending(id(i))) == 0 })
	}
	for i, cmd := range sweeping {
		must(t, ends[i].Close())
		must(t, cmd.Wait())
	}
	for i := range sessions {
		recorded := w.sent(id(i))
		wantEqual(t, "agent against timeline", inboxMIDs(t, filepath.Join(inboxes, id(i))), recorded)
		var accepted []string
		for n := range senders {
			accepted = append(accepted, strings.Fields(outs[i*senders+n].String())...)
		}
		slices.Sort(accepted)
		slices.Sort(recorded)
		wantEqual(t, "timeline against accepted", recorded, accepted)
		if len(accepted) != senders*count {
			t.Errorf("got %d accepted, want %d", len(accepted), senders*count)
		}
	}
}

// A message whose sender died after it was recorded and before it was owed has no
// debt that a stat could find.
func TestSweepFindsADebtThatADeathLeftOut(t *testing.T) {
	for at := 1; ; at++ {
		w := newWorld(t)
		inbox := filepath.Join(t.TempDir(), "inbox")
		w.createFile("s1", inbox)
		cmd := command(t, "send-1", job{Store: w.dir, Session: "s1", Name: "go", DieAt: at})
		var out bytes.Buffer
		cmd.Stdout = &out
		if !killed(t, cmd.Run()) {
			t.Fatal("the sender never came to the step between record and debt")
		}
		if strings.TrimSpace(out.String()) != "dispatch: recorded" {
			continue
		}
		done, err := dispatch.NewSweeper(w.Dispatcher, dispatch.SweepOptions{}).Sweep(t.Context())
		must(t, err)
		wantEqual(t, "delivered", inboxMIDs(t, inbox), w.sent("s1"))
		if done.Delivered != 1 {
			t.Errorf("got %d delivered, want 1", done.Delivered)
		}
		return
	}
}
