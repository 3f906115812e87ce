package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// However many events are printed, log opens the last segment alone, and writes once.
func TestLogAsksTheSystemForLittle(t *testing.T) {
	t.Parallel()
	canTrace(t)
	b := newBox(t)
	b.must("new", "w")
	for range 20 {
		b.must("send", "w", strings.Repeat("run the tests\n", 40))
	}
	trace := filepath.Join(b.dir, "trace")
	a := b.run("", "strace", "-f", "-qq", "-o", trace, "-e", "trace=openat,write", "docket", "log", "w", "--store", b.store())
	if printed := strings.Count(a.out, "run the tests"); a.status != 0 || printed != 20*40 {
		t.Fatalf("status %d, and %d lines: %s", a.status, printed, a.err)
	}
	lines, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	calls := string(lines)
	if n := strings.Count(calls, " write(1, "); n != 1 {
		t.Errorf("got %d writes, want 1", n)
	}
	// The folder of the segments, the last one for its end, and again to read it.
	if n := strings.Count(calls, `openat(AT_FDCWD, "`+b.store()); n < 1 || n > 3 {
		t.Errorf("got %d files opened, want at most 3:\n%s", n, calls)
	}
}
