package watch_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline/watch"
)

// benchFile makes a session directory with a file in its segments.
func benchFile(b *testing.B) (session, segments string, f *os.File) {
	b.Helper()
	session = b.TempDir()
	segments = filepath.Join(session, "timeline")
	if err := os.Mkdir(segments, 0o700); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(filepath.Join(segments, "1.ndjson"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return session, segments, f
}

// BenchmarkWake is the time from a write until who waits for it is awake.
func BenchmarkWake(b *testing.B) {
	line := make([]byte, 300)
	wake := func(b *testing.B, f *os.File, wait func(ctx context.Context)) {
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		defer cancel()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := f.WriteAt(line, 0); err != nil {
				b.Fatal(err)
			}
			wait(ctx)
		}
	}
	b.Run("waiter", func(b *testing.B) {
		session, segments, f := benchFile(b)
		w := watch.New(session, segments, time.Hour)
		defer w.Close()
		wake(b, f, func(ctx context.Context) {
			if err := w.Wait(ctx); err != nil {
				b.Fatal(err)
			}
		})
	})
	b.Run("set", func(b *testing.B) {
		_, segments, f := benchFile(b)
		s := watch.NewSet(time.Hour)
		defer s.Close()
		if s.Add(7, segments) != 0 {
			b.Fatal("the directory cannot be watched")
		}
		wake(b, f, func(ctx context.Context) {
			if h, err := s.Wait(ctx); err != nil || !slices.Equal(h.Keys, []int{7}) {
				b.Fatalf("got %+v, %v, want the key", h, err)
			}
		})
	})
}

// BenchmarkComeAndGo is what a follower pays for being told: the first one of a process
// starts the watcher, any other shares it.
func BenchmarkComeAndGo(b *testing.B) {
	for _, others := range []bool{false, true} {
		b.Run(map[bool]string{false: "alone", true: "among others"}[others], func(b *testing.B) {
			session, segments, _ := benchFile(b)
			if others {
				defer watch.New(b.TempDir(), "none", time.Hour).Close()
			}
			b.ReportAllocs()
			for b.Loop() {
				w := watch.New(session, segments, time.Hour)
				if !watch.Watching(segments) {
					b.Fatal("the directory is not watched")
				}
				w.Close()
			}
		})
	}
}

// BenchmarkFirstSegment is the time from the first segment of a session until its log is
// watched instead of the session, with one follower in the process.
func BenchmarkFirstSegment(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		session := b.TempDir()
		segments := filepath.Join(session, "timeline")
		w := watch.New(session, segments, time.Hour)
		b.StartTimer()
		if err := os.Mkdir(segments, 0o700); err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
		for !watch.Watching(segments) {
			if err := w.Wait(ctx); err != nil {
				b.Fatal(err)
			}
		}
		cancel()
		b.StopTimer()
		w.Close()
		b.StartTimer()
	}
}
