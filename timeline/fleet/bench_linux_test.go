package fleet_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/docket-go/docket/timeline/fleet"
)

// BenchmarkSetUp is the time until a follower of ten thousand sessions is caught up,
// beside that of asking the system to watch as many directories.
func BenchmarkSetUp(b *testing.B) {
	const sessions = 10_000
	store := crowd(b, sessions)
	dirs, err := filepath.Glob(filepath.Join(store.Dir(), "sessions", "*", "timeline"))
	check(b, err)
	if len(dirs) != sessions {
		b.Fatalf("got %d directories", len(dirs))
	}
	tail := follow(b, store, fleet.Options{Mode: fleet.TailOnly})
	tail.want("caught up")
	cursor := tail.last
	tail.stop()

	b.Run("inotify", func(b *testing.B) {
		for b.Loop() {
			fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
			check(b, err)
			for _, dir := range dirs {
				if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_MODIFY|unix.IN_CREATE); err != nil {
					b.Fatal(os.NewSyscallError("inotify_add_watch", err))
				}
			}
			b.StopTimer()
			check(b, unix.Close(fd))
			b.StartTimer()
		}
	})
	for name, o := range map[string]fleet.Options{
		"tail": {Mode: fleet.TailOnly}, "after": {Mode: fleet.After, After: cursor},
	} {
		b.Run(name, func(b *testing.B) {
			spent := time.Duration(0)
			for b.Loop() {
				before := cpuTime(b)
				w := follow(b, store, o)
				w.want("caught up")
				b.StopTimer()
				spent += cpuTime(b) - before
				w.stop()
				b.StartTimer()
			}
			b.ReportMetric(float64(spent.Milliseconds())/float64(b.N), "cpu-ms/op")
		})
	}
}

// cpuTime is what the process has used of all processors.
func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	check(b, unix.Getrusage(unix.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEvents reads the history of a hundred sessions.
func BenchmarkEvents(b *testing.B) {
	store := crowd(b, 1000)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for u, err := range fleet.Follow(b.Context(), store, fleet.Options{}) {
			check(b, err)
			if n++; u.CaughtUp {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/update")
}
