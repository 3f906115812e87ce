package dispatch_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/file"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

var memoryMiB = flag.Int("memory", 32, "the size in MiB of the log behind which TestMemoryOfADrain drains")

var owedMessages = flag.Int("messages", 20_000, "how many messages TestMemoryOfARepair owes")

func init() {
	roles["memory"] = func(ctx context.Context, j job, d *dispatch.Dispatcher) error {
		if j.Count > 0 {
			p, err := d.Drain(ctx, j.Session, dispatch.DrainOptions{})
			if err != nil || len(p.Delivered) != j.Count {
				return fmt.Errorf("got %d delivered, %v, want %d", len(p.Delivered), err, j.Count)
			}
		}
		return printStatus()
	}
	roles["look at all"] = func(ctx context.Context, j job, d *dispatch.Dispatcher) error {
		if all, err := d.Disagreements(ctx, j.Session); err != nil || len(all) != j.Count {
			return fmt.Errorf("got %d disagreements, %v, want %d", len(all), err, j.Count)
		}
		return printStatus()
	}
	roles["repair all"] = func(ctx context.Context, j job, d *dispatch.Dispatcher) error {
		if r, err := d.Repair(ctx, j.Session); err != nil || len(r.Kept)+len(r.Restored) != j.Count {
			return fmt.Errorf("got %d kept, %d restored, %v, want %d", len(r.Kept), len(r.Restored), err, j.Count)
		}
		return printStatus()
	}
	roles["recover all"] = func(ctx context.Context, j job, d *dispatch.Dispatcher) error {
		_, err := d.SendText(ctx, j.Session, dispatch.Message{Text: "the next", NoDrain: true})
		if n, lenErr := d.Owed(ctx, j.Session); err != nil || lenErr != nil || n != j.Count {
			return fmt.Errorf("got %d owed, %v, %v, want %d", n, err, lenErr, j.Count)
		}
		return printStatus()
	}
	roles["revoke all"] = func(ctx context.Context, j job, d *dispatch.Dispatcher) error {
		if all, err := d.RevokeFrom(ctx, j.Session, ""); err != nil || len(all) != j.Count {
			return fmt.Errorf("got %d revoked, %v, want %d", len(all), err, j.Count)
		}
		return printStatus()
	}
}

// printStatus prints what the system says of this process.
func printStatus() error {
	status, err := os.ReadFile("/proc/self/status")
	if err == nil {
		_, err = os.Stdout.Write(status)
	}
	return err
}

// A pass takes memory that grows neither with the log nor with what is owed.
func TestMemoryOfADrain(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && strings.Contains(fmt.Sprint(info.Settings), "-race true") {
		t.Skip("memory cannot be measured with the race detector")
	}
	const owed, bound = 300, 10 << 20
	dir := t.TempDir()
	owe(t, dir, *memoryMiB<<20, owed)
	start := peakOf(t, "memory", job{Store: dir, Session: "s1", Buffered: true})
	peak := peakOf(t, "memory", job{Store: dir, Session: "s1", Buffered: true, Count: owed})
	t.Logf("%d KiB above %d", (peak-start)>>10, start>>10)
	if peak-start > bound {
		t.Errorf("got %d bytes above the start, want at most %d", peak-start, bound)
	}
}

// What holds all that is owed against the timeline takes memory that does not grow with
// it, but for the ids that are returned: also where nothing but the timeline has it,
// and in the send that comes after the death of another.
func TestMemoryOfARepair(t *testing.T) {
	if info, ok := debug.ReadBuildInfo(); ok && strings.Contains(fmt.Sprint(info.Settings), "-race true") {
		t.Skip("memory cannot be measured with the race detector")
	}
	const bound = 18 << 20
	n := *owedMessages
	w := newWorld(t)
	w.buffered = true
	w.reopen(dispatch.Options{})
	w.create("s1")
	for range n {
		w.later("s1", "a short text")
	}
	must(t, w.Close())
	lose := func() { must(t, os.Remove(w.path("s1", "pending.json"))) }
	die := func() {
		if !killed(t, command(t, "send-1", job{Store: w.dir, Session: "s1", Buffered: true, Name: "x", DieOn: "dispatch: recorded"}).Run()) {
			t.Fatal("the sender did not die")
		}
	}
	start := peakOf(t, "memory", job{Store: w.dir, Session: "s1", Buffered: true})
	for _, tt := range []struct {
		name, role string
		before     []func()
		want       int // of what the job counts
	}{
		{"look", "look at all", nil, 0},
		{"repair", "repair all", nil, n},
		{"repair of a lost queue", "repair all", []func(){lose}, n},
		{"recovery", "recover all", []func(){die}, n + 2},
		{"recovery of a lost queue", "recover all", []func(){die, lose}, n + 4},
		{"taking all back", "revoke all", nil, n + 4},
	} {
		for _, do := range tt.before {
			do()
		}
		peak := peakOf(t, tt.role, job{Store: w.dir, Session: "s1", Buffered: true, Count: tt.want})
		t.Logf("%s: %d KiB above %d", tt.name, (peak-start)>>10, start>>10)
		if peak-start > bound {
			t.Errorf("%s: got %d bytes above the start, want at most %d", tt.name, peak-start, bound)
		}
	}
}

// owe makes the session s1 with a log of that size, and so many messages of 40 KB that it is
// owed, half of them with a key.
func owe(t *testing.T, dir string, logBytes, owed int) {
	t.Helper()
	store, err := session.OpenStore(dir, session.Options{Timeline: timeline.Options{Buffered: true}})
	must(t, err)
	s, err := store.Create(t.Context(), session.New{ID: "s1", Adapter: "file", Settings: map[string]string{"path": filepath.Join(dir, "inbox")}})
	must(t, err)
	must(t, s.Release())
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "file", Settings: file.Kind.Settings, Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return &taker{}, nil },
	}}})
	text := strings.Repeat("word ", 8000)
	for size := 0; size < logBytes; size += len(text) {
		a, err := d.SendText(t.Context(), "s1", dispatch.Message{Text: text})
		must(t, err)
		if !a.Delivered {
			t.Fatalf("not delivered: %v", a.Pass)
		}
	}
	for i := range owed {
		m := dispatch.Message{Text: text, NoDrain: true}
		if i%2 == 0 {
			m.Key = strconv.Itoa(i)
		}
		_, err := d.SendText(t.Context(), "s1", m)
		must(t, err)
	}
	must(t, d.Close())
}

// peakOf returns the most memory that another process took for a job.
func peakOf(t *testing.T, role string, j job) int {
	t.Helper()
	cmd := command(t, role, j)
	cmd.Env = append(cmd.Env, "GOMEMLIMIT=64MiB", "GODEBUG=gcstoptheworld=1")
	status, err := cmd.Output()
	must(t, err)
	found := regexp.MustCompile(`(?m)^VmHWM:\s*(\d+) kB$`).FindSubmatch(status)
	if found == nil {
		t.Skip("the system does not say how much memory a process had")
	}
	kib, err := strconv.Atoi(string(found[1]))
	must(t, err)
	return kib << 10
}
