package timeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
)

// TestMain lets the test binary be a writer of its own; see process_test.go
// and crash_test.go.
func TestMain(m *testing.M) {
	if dir := os.Getenv("TIMELINE_TEST_WRITER"); dir != "" {
		os.Exit(writerMain(dir))
	}
	if job := os.Getenv("TIMELINE_TEST_MEMORY"); job != "" {
		os.Exit(memoryMain(job))
	}
	if dir := os.Getenv("TIMELINE_TEST_CRASH"); dir != "" {
		os.Exit(crashMain(dir))
	}
	os.Exit(m.Run())
}

// newDir makes an empty session directory with the name s1.
func newDir(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// buffered opens the log of dir without syncs, with segments of the given size.
func buffered(t testing.TB, dir string, segmentBytes int64) *timeline.Log {
	t.Helper()
	l, err := timeline.Open(dir, timeline.Options{Buffered: true, SegmentBytes: segmentBytes, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func appendAll(t testing.TB, l *timeline.Log, entries ...timeline.Entry) timeline.Written {
	t.Helper()
	w, err := l.Append(t.Context(), entries...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// message returns the message number i of a human.
func message(i int) timeline.Sent {
	return timeline.Sent{MID: fmt.Sprintf("m%d", i), Text: fmt.Sprintf("message %d", i)}
}

// all reads the whole log, which must have no bad line.
func all(t testing.TB, l *timeline.Log) (events []timeline.Event) {
	t.Helper()
	for e, err := range l.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return events
}

// appendRaw writes bytes behind the end of a file, as another program would.
func appendRaw(t testing.TB, path, raw string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteString(raw)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// newest returns the path of the highest segment.
func newest(t testing.TB, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "timeline", "*.ndjson"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no segment in %s: %v", dir, err)
	}
	return paths[len(paths)-1]
}

// killSelf ends this process as kill -9 does.
func killSelf() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // until the signal is there
}
