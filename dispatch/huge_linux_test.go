package dispatch_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

var owedMiB = flag.Int("owed", 96, "the size in MiB of the queue of TestMemoryOfAHugeQueue")

func init() { roles["huge"] = everything }

// everything is what people and programs do with a queue, of which a damaged part is to
// be mended in between.
func everything(ctx context.Context, j job, d *dispatch.Dispatcher) error {
	if err := errors.Join(seen(ctx, j, d, j.Count), hurt(filepath.Join(j.Store, "sessions", j.Session, "pending.json"))); err != nil {
		return err
	}
	if err := seen(ctx, j, d, j.Count-1); !errors.Is(err, queue.ErrCorrupt) {
		return fmt.Errorf("damaged: got %w, want ErrCorrupt", err)
	}
	r, err := d.Repair(ctx, j.Session)
	if err != nil || r.Aside == "" || len(r.Kept) != j.Count-1 || len(r.Restored) != 1 {
		return fmt.Errorf("repair: got %d kept, %d restored, aside %q, %w", len(r.Kept), len(r.Restored), r.Aside, err)
	}
	const some = 3
	if p, err := d.Drain(ctx, j.Session, dispatch.DrainOptions{}); !errors.Is(err, adapter.ErrBusy) || len(p.Delivered) != some {
		return fmt.Errorf("drain: got %d delivered, %w", len(p.Delivered), err)
	}
	if err := seen(ctx, j, d, j.Count-some); err != nil {
		return err
	}
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		_, err = os.Stdout.Write(status)
	}
	return err
}

// seen looks at all that is owed in every way there is.
func seen(ctx context.Context, j job, d *dispatch.Dispatcher, want int) error {
	n, last := 0, ""
	for e, err := range d.Debts(ctx, j.Session) {
		if err != nil {
			return fmt.Errorf("%d listed: %w", n, err)
		}
		n, last = n+1, e.MID
	}
	owed, err := d.Owed(ctx, j.Session)
	if err != nil || owed != want || n != want {
		return fmt.Errorf("got %d counted, %d listed, %w, want %d", owed, n, err, want)
	}
	if s, err := d.State(ctx, j.Session, last); err != nil || s.Condition != dispatch.Owed {
		return fmt.Errorf("got %+v, %w, want it owed", s, err)
	}
	if all, err := d.Disagreements(ctx, j.Session); err != nil || len(all) > 0 {
		return fmt.Errorf("got %v, %w, want queue and timeline to agree", all, err)
	}
	if a, err := d.SendText(ctx, j.Session, dispatch.Message{Text: "the last", Key: "last", NoDrain: true}); err != nil || !a.Replayed {
		return fmt.Errorf("the same key again: got %+v, %w", a, err)
	}
	return nil
}

// hurt writes zeros into the middle of the list.
func hurt(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	at, part := info.Size()/2, make([]byte, 2<<20)
	if _, err = f.ReadAt(part, at); err == nil {
		// Not at the end of a line, which would take two messages.
		_, err = f.WriteAt(make([]byte, 100), at+int64(bytes.IndexByte(part, '\n'))+1000)
	}
	return err
}

// Whatever is done with a queue, what it takes in memory grows with the longest message and
// the ids, not with the texts (-owed 1100 is more than a gibibyte).
func TestMemoryOfAHugeQueue(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && strings.Contains(fmt.Sprint(info.Settings), "-race true") {
		t.Skip("memory cannot be measured with the race detector")
	}
	const textBytes, bound = 600 << 10, 40 << 20
	dir := t.TempDir()
	store, err := session.OpenStore(dir, session.Options{Timeline: timeline.Options{Buffered: true}})
	must(t, err)
	taken := filepath.Join(dir, "taken")
	s, err := store.Create(t.Context(), session.New{ID: "s1", Adapter: "exec", Settings: map[string]string{
		"cmd": fmt.Sprintf("cat >/dev/null; echo >>'%s'; test $(wc -l <'%s') -le 3 || exit 75", taken, taken),
	}})
	must(t, err)
	must(t, s.Release())
	d := dispatch.New(store, dispatch.Options{})
	n := *owedMiB << 20 / textBytes
	for i := range n {
		m := dispatch.Message{Text: fmt.Sprint(i, strings.Repeat(" word", textBytes/5)), NoDrain: true}
		if i == n-1 {
			m = dispatch.Message{Text: "the last", Key: "last", NoDrain: true}
		}
		_, err := d.SendText(t.Context(), "s1", m)
		must(t, err)
	}
	must(t, d.Close())
	start := peakOf(t, "memory", job{Store: dir, Session: "s1", Buffered: true})
	peak := peakOf(t, "huge", job{Store: dir, Session: "s1", Buffered: true, Count: n})
	t.Logf("%d KiB above %d", (peak-start)>>10, start>>10)
	if peak-start > bound {
		t.Errorf("got %d bytes above the start, want at most %d", peak-start, bound)
	}
}
