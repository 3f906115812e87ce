package session_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"testing"

	"github.com/docket-go/docket/timeline/session"
)

var manySessions = flag.Int("sessions", 40_000, "how many sessions the store has that TestMemory lists")

// A store of any size is listed in this much memory more than a process has at its start.
const memoryBound = 6 << 20

// list prints how many sessions the store has, and the most memory that this process
// ever had.
func list(store *session.Store) error {
	n := 0
	for _, err := range store.IDs(ctx) {
		if err != nil {
			return err
		}
		n++
	}
	peak, err := peakBytes()
	fmt.Println(n, peak)
	return err
}

var peakLine = regexp.MustCompile(`(?m)^VmHWM:\s*(\d+) kB$`)

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

func raceEnabled() bool {
	info, _ := debug.ReadBuildInfo()
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			return true
		}
	}
	return false
}

// peakOfListing lists a store in another process, whose collector stops the program
// while it works, so that the peak does not depend on how busy the machine is.
func peakOfListing(t *testing.T, store *session.Store) (n, peak int) {
	t.Helper()
	c := command(t, store, "list", "GOMEMLIMIT=64MiB", "GODEBUG=gcstoptheworld=1")
	c.Stderr = os.Stderr
	out, err := c.Output()
	check(t, err)
	_, err = fmt.Sscan(string(out), &n, &peak)
	check(t, err)
	return n, peak
}

// A store with very many sessions is listed in bounded memory.
func TestMemory(t *testing.T) {
	if _, err := peakBytes(); err != nil || raceEnabled() {
		t.Skip("memory cannot be measured here: ", err)
	}
	store := newStore(t)
	_, start := peakOfListing(t, store)
	for i := range *manySessions {
		check(t, os.MkdirAll(filepath.Join(store.Dir(), "sessions", fmt.Sprintf("session-with-a-longer-name-%08d", i)), 0o700))
	}
	n, peak := peakOfListing(t, store)
	t.Logf("%d KiB above %d", (peak-start)>>10, start>>10)
	if n != *manySessions || peak-start > memoryBound {
		t.Errorf("got %d sessions in %d bytes above the start, want %d in at most %d", n, peak-start, *manySessions, memoryBound)
	}
}
