package timeline_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline"
)

var memoryMiB = flag.Int("memory", 32, "the size in MiB of the log that TestMemory reads")

// A log of any length is read in this much memory more than a process has at its start.
const memoryBound = 10 << 20

// memoryJobs is what the processes do whose memory is measured. Each returns how
// many events, faults or segments it saw.
var memoryJobs = map[string]func(ctx context.Context, l *timeline.Log) (int, error){
	"nothing": func(context.Context, *timeline.Log) (int, error) { return 0, nil },
	"all": func(ctx context.Context, l *timeline.Log) (n int, err error) {
		for _, err := range l.All(ctx) {
			switch {
			case err == nil:
				n++
			case !errors.Is(err, timeline.ErrCorrupt):
				return n, err
			}
		}
		return n, nil
	},
	"lines": func(ctx context.Context, l *timeline.Log) (n int, err error) {
		for _, err := range l.Lines(ctx) {
			switch {
			case err == nil:
				n++
			case !errors.Is(err, timeline.ErrCorrupt):
				return n, err
			}
		}
		return n, nil
	},
	"follow": func(ctx context.Context, l *timeline.Log) (n int, err error) {
		for u, err := range l.Follow(ctx, timeline.FollowOptions{}) {
			switch {
			case err == nil && u.CaughtUp:
				return n, nil
			case err == nil:
				n++
			case !errors.Is(err, timeline.ErrCorrupt):
				return n, err
			}
		}
		return n, nil
	},
	"tail": func(ctx context.Context, l *timeline.Log) (int, error) {
		page, err := l.Tail(ctx, 100)
		return len(page.Events), err
	},
	"verify": func(ctx context.Context, l *timeline.Log) (int, error) {
		faults, err := l.Verify(ctx)
		return len(faults), err
	},
	"key": func(ctx context.Context, l *timeline.Log) (int, error) {
		_, found, err := l.Receipt(ctx, "send", "digest 3")
		if err == nil && !found {
			err = errors.New("not found")
		}
		return 1, err
	},
	"debts": func(ctx context.Context, l *timeline.Log) (int, error) {
		owed, err := l.Owed(ctx)
		return len(owed), err
	},
	"each debt": func(ctx context.Context, l *timeline.Log) (n int, err error) {
		for _, err := range l.Debts(ctx) {
			if err != nil {
				return n, err
			}
			n++
		}
		return n, nil
	},
	"seal": func(ctx context.Context, l *timeline.Log) (int, error) {
		sealed, err := l.Seal(ctx)
		return len(sealed), err
	},
}

// memoryMain does a job and prints what it saw and how much memory it took at most.
func memoryMain(job string) int {
	l, err := timeline.Open(os.Getenv("TIMELINE_TEST_DIR"), timeline.Options{Buffered: true})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	n, err := memoryJobs[job](context.Background(), l)
	peak, peakErr := peakBytes()
	if err := errors.Join(err, peakErr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(n, peak)
	return 0
}

var peakLine = regexp.MustCompile(`(?m)^VmHWM:\s*(\d+) kB$`)

// peakBytes returns the most memory that this process ever had.
func peakBytes() (int, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	found := peakLine.FindSubmatch(status)
	if found == nil {
		return 0, errors.New("the system does not say how much memory this process had")
	}
	kib, err := strconv.Atoi(string(found[1]))
	return kib << 10, err
}

// measure runs a job on the log of dir in another process. The collector of that one
// stops the program while it works: how much it allocates meanwhile, which depends on
// how busy the machine is, is not what is measured.
func measure(t *testing.T, dir, job string) (seen, peak int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TIMELINE_TEST_MEMORY="+job, "TIMELINE_TEST_DIR="+dir, "GOMEMLIMIT=64MiB", "GODEBUG=gcstoptheworld=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		_, err = fmt.Sscan(string(out), &seen, &peak)
	}
	if err != nil {
		t.Fatalf("%s: %v", job, err)
	}
	return seen, peak
}

// writeLong writes a log of that size and returns the number of its events.
func writeLong(t *testing.T, dir string, size int) (n int) {
	t.Helper()
	l := buffered(t, dir, 0)
	for size > 0 {
		var batch []timeline.Entry
		for range 100 {
			m := message(n)
			m.Text = strings.Repeat("word ", 1+n%1000)
			if n%10 == 3 {
				m.Receipt = &timeline.Receipt{Operation: "send", RequestDigest: fmt.Sprint("digest ", n), Delivery: timeline.Delivery{Text: "x"}}
			}
			batch = append(batch, m, timeline.Settled{MID: m.MID})
			size -= len(m.Text) + 300
			n++
		}
		appendAll(t, l, batch...)
	}
	return n
}

// measured reports whether memory can be measured here.
func measured() bool {
	info, ok := debug.ReadBuildInfo()
	if ok {
		for _, s := range info.Settings {
			if s.Key == "-race" && s.Value == "true" {
				return false
			}
		}
	}
	_, err := peakBytes()
	return err == nil
}

// A memory is the log of a directory and what a process needs that does nothing.
type memory struct {
	t     *testing.T
	dir   string
	start int
}

func newMemory(t *testing.T) *memory {
	t.Helper()
	if !measured() {
		t.Skip("memory cannot be measured here")
	}
	m := &memory{t: t, dir: newDir(t)}
	_, m.start = measure(t, m.dir, "nothing")
	return m
}

// jobs does each job in a process of its own, which must see what is wanted.
func (m *memory) jobs(want map[string]int) {
	m.t.Helper()
	for job, n := range want {
		seen, peak := measure(m.t, m.dir, job)
		m.t.Logf("%-7s %5d KiB above %d", job, (peak-m.start)>>10, m.start>>10)
		if peak-m.start > memoryBound {
			m.t.Errorf("%s: got %d bytes above the start, want at most %d", job, peak-m.start, memoryBound)
		}
		if seen != n {
			m.t.Errorf("%s: got %d, want %d", job, seen, n)
		}
	}
}

// A long log is read, followed, searched, verified and sealed in bounded memory.
func TestMemory(t *testing.T) {
	m := newMemory(t)
	n := writeLong(t, m.dir, *memoryMiB<<20)
	plain, err := filepath.Glob(filepath.Join(m.dir, "timeline", "*.ndjson"))
	if err != nil || len(plain) < 4 {
		t.Fatalf("got %v, %v, want some segments", plain, err)
	}
	jobs := map[string]int{"all": n, "lines": n, "follow": n, "tail": 100, "verify": 0, "key": 1, "debts": 0}
	m.jobs(jobs)
	m.jobs(map[string]int{"seal": len(plain) - 1})
	m.jobs(jobs)
}

// A damaged log in which NULs stand for more than fits into memory is read all the same.
func TestMemoryOfNULs(t *testing.T) {
	m := newMemory(t)
	n := writeLong(t, m.dir, 1<<20)
	path := newest(t, m.dir)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()+64<<20); err != nil { // a hole costs no space
		t.Fatal(err)
	}
	appendRaw(t, path, "\n")
	m.jobs(map[string]int{"all": n, "lines": n, "follow": n, "tail": 100, "verify": 1})
}

// What is owed is found in bounded memory, however much it is, and however many messages
// were sent and settled since the first that does not fit into a header.
func TestMemoryOfDebts(t *testing.T) {
	m := newMemory(t)
	l := buffered(t, m.dir, 0)
	sent := 0
	write := func(n int, settled bool) {
		for range n / 100 {
			var batch []timeline.Entry
			for range 100 {
				s := timeline.Sent{MID: fmt.Sprintf("%036d", sent), Text: "go"}
				batch = append(batch, s)
				if sent++; settled {
					batch = append(batch, timeline.Settled{MID: s.MID})
				}
			}
			appendAll(t, l, batch...)
		}
	}
	write(timeline.MaxListed+100, false)
	write(20_000, true)
	write(80_000, false)
	m.jobs(map[string]int{"each debt": sent - 20_000})
}
