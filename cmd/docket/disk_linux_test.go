package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A trouble is one that the kernel answers a system call with. The tests meet it at
// every call of that name in turn, or in a plain run at every step-th.
type trouble struct {
	call string // a pattern, as the names differ between machines
	how  string
	step int
}

func troubles() []trouble {
	some := []trouble{
		{"write", "ENOSPC", 1}, {"pwrite64", "ENOSPC", 1}, {"rename(at2?)?", "ENOSPC", 1},
		{"fsync", "EIO", 1}, {"fdatasync", "EIO", 1},
		{"flock", "ENOLCK", 4}, {"openat", "EMFILE", 4},
	}
	if *sweepAll != "full" {
		return some
	}
	for i := range some {
		some[i].step = 1
	}
	for _, how := range []string{"EIO", "EDQUOT"} {
		some = append(some, trouble{"write", how, 1}, trouble{"pwrite64", how, 1}, trouble{"rename(at2?)?", how, 1})
	}
	return append(some, trouble{"unlink(at)?", "EIO", 1}, trouble{"ftruncate", "EIO", 1}, trouble{"mkdir(at)?", "ENOSPC", 1})
}

// opened returns how many files docket opens before it opens one of the store.
func (b box) opened() int {
	b.t.Helper()
	trace := filepath.Join(b.dir, "trace")
	b.run("", "strace", "-f", "-qq", "-o", trace, "-e", "trace=openat", "docket", "adapters")
	lines, err := os.ReadFile(trace)
	if err != nil {
		b.t.Fatal(err)
	}
	return strings.Count(string(lines), " openat(")
}

// When the disk makes trouble the answer is honest, the queue holds nothing that the
// log lacks, and all goes on when the trouble is over.
func TestDiskTrouble(t *testing.T) {
	t.Parallel()
	canTrace(t)
	for _, args := range [][]string{
		{"send", "w", "NEW", "--no-drain"},
		{"send", "w", "NEW", "--no-drain", "--key", "k"},
		{"drain", "w", "--adapter", "file", "--set", "path=inbox"},
		{"ask", "w", "--note", "NEW"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.must("new", "w")
			for _, text := range []string{"one", "two"} {
				b.must("send", "w", text, "--no-drain")
			}
			met := 0
			for _, trouble := range troubles() {
				met += b.meet(trouble, args)
			}
			if met < 5 {
				t.Errorf("met %d troubles: the calls have other names here", met)
			}
		})
	}
}

// meet runs docket in trouble, each time on a copy of the box, and returns how often.
func (b box) meet(trouble trouble, args []string) (met int) {
	b.t.Helper()
	first := 1
	if trouble.call == "openat" {
		first += b.opened()
	}
	for n := first; ; n += trouble.step {
		again := b.copy()
		trace := filepath.Join(again.dir, "trace")
		inject := fmt.Sprintf("inject=/^(%s)$:error=%s:when=%d", trouble.call, trouble.how, n)
		argv := []string{"strace", "-f", "-qq", "-o", trace, "-e", "trace=/^(" + trouble.call + ")$", "-e", inject, "docket", "--store", again.store()}
		a := again.run("", append(argv, args...)...)
		said, err := os.ReadFile(trace)
		if err != nil {
			b.t.Fatal(err)
		}
		line := regexp.MustCompile(`.*\(INJECTED\)`).Find(said)
		if line == nil {
			return met
		}
		met++
		if trouble.call == "fdatasync" && a.status == statusDone {
			b.t.Errorf("%v: it is done, although the log could not be synced", args)
		}
		what := fmt.Sprintf("%v, %s: %s", args, inject, line)
		if !regexp.MustCompile(`write\(2, .*\(INJECTED\)`).Match(said) { // each thread counts for itself, and one wrote the error
			again.honest(what, args, a)
		}
		again.sound(what, args)
	}
}

// honest compares the answer with what is stored.
func (b box) honest(what string, args []string, a answer) {
	b.t.Helper()
	fail := func(format string, more ...any) {
		b.t.Helper()
		b.t.Errorf("%s: status %d, %q %q: "+format, append([]any{what, a.status, a.out, a.err}, more...)...)
	}
	if a.status == statusDone && a.out == "" || a.status != statusDone && a.out+a.err == "" {
		fail("it does not say how it ended")
	}
	switch args[0] {
	case "ask":
		b.honestOfNote(fail, a)
		return
	case "drain":
		return
	}
	switch fresh := b.fresh(); {
	case len(fresh) > 1, len(fresh) == 0 && a.status == statusDone:
		fail("it is in the log %d times", len(fresh))
	case len(fresh) == 0:
	case !strings.Contains(a.out+a.err, fresh[0]):
		fail("it is in the log as %s, and that is not said", fresh[0])
	case a.status == statusDone && !slices.Contains(b.mids("pending"), fresh[0]):
		fail("it is accepted and not owed")
	}
}

// honestOfNote is honest for a declaration: if it stands, and is not done, it is said
// to be in doubt, and if it does not stand it is not.
func (b box) honestOfNote(fail func(format string, more ...any), a answer) {
	b.t.Helper()
	stands := strings.Contains(b.must("show", "w", "--json"), `"note":"NEW"`)
	told := strings.Contains(a.err, "written, but not promised: ") && strings.HasSuffix(a.err, ": docket show w shows whether it stands\n")
	switch {
	case strings.Contains(a.err, "what was done is done"):
		told = true
	case a.status == statusDone:
		told = !strings.Contains(a.err, "promised")
	}
	if stands != told {
		fail("it stands: %v, and is told so: %v", stands, told)
	}
}

// sound compares what is stored with itself; then it goes on without trouble, and
// everything must end well.
func (b box) sound(what string, args []string) {
	b.t.Helper()
	logged := b.mids("log", "--all")
	for _, mid := range b.mids("pending") {
		if !slices.Contains(logged, mid) {
			b.t.Errorf("%s: %s is owed and not in the log", what, mid)
		}
	}
	b.must("send", "w", "later", "--no-drain")
	if keyed := slices.Contains(args, "--key"); keyed || args[0] == "ask" {
		b.must(args...)
		if keyed && len(b.fresh()) != 1 || args[0] == "ask" && strings.Count(b.must("log", "w", "--json"), `"note":"NEW"`) != 1 {
			b.t.Errorf("%s: done again, it is not in the log exactly once", what)
		}
	}
	b.must("verify", "--all")
	b.must("drain", "w", "--adapter", "file", "--set", "path=inbox")
	if arrived, want := b.arrived(), b.unrevoked(b.mids("log", "--all")); !slices.Equal(arrived, want) {
		b.t.Errorf("%s: got %v in the end, want %v", what, arrived, want)
	}
	b.must("verify", "--all")
}

// mids returns the ids of the messages that a verb lists of session w, in order.
func (b box) mids(args ...string) (mids []string) {
	b.t.Helper()
	return midsOf(b.t, b.must(append(args, "w", "--json")...))
}

func midsOf(t *testing.T, lines string) (mids []string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var object struct{ MID string }
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if object.MID != "" {
			mids = append(mids, object.MID)
		}
	}
	return mids
}

// fresh returns the ids of the messages that begin with NEW.
func (b box) fresh() (mids []string) {
	b.t.Helper()
	for line := range strings.Lines(b.must("log", "w", "--all", "--json")) {
		if strings.Contains(line, `"text":"NEW`) {
			mids = append(mids, midsOf(b.t, line)...)
		}
	}
	return mids
}

func (b box) unrevoked(mids []string) []string {
	return slices.DeleteFunc(mids, func(mid string) bool {
		return strings.HasPrefix(b.must("state", "w", mid), "revoked")
	})
}

// arrived returns what the adapter file wrote.
func (b box) arrived() []string {
	b.t.Helper()
	got, err := os.ReadFile(filepath.Join(b.dir, "inbox"))
	if err != nil {
		b.t.Fatal(err)
	}
	return midsOf(b.t, string(got))
}

// A file that can grow so far only makes one write short, and the rest of it fail, as
// on a disk that fills up in the middle of a line.
func TestShortWrites(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("prlimit"); err != nil {
		t.Skip("needs prlimit")
	}
	b := newBox(t)
	b.must("new", "w")
	segment := b.path("w", "timeline", "000000000001.ndjson")
	b.must("send", "w", "one", "--no-drain")
	b.must("send", "w", "two", "--no-drain")
	size := sizeOf(t, segment)
	for _, more := range []int64{0, 1, 60, 130} {
		again := b.copy()
		args := []string{"send", "w", "NEW" + strings.Repeat("x", 100), "--no-drain"}
		a := again.limited(size+more, args)
		if a.status != statusFailed || len(again.fresh()) != 0 {
			t.Errorf("%d bytes left: got status %d and %v in the log, want %d and nothing", more, a.status, again.fresh(), statusFailed)
		}
		what := fmt.Sprintf("%d bytes left for the line", more)
		again.honest(what, args, a)
		again.sound(what, args)
	}
	b.shortInQueue()
}

// shortInQueue goes on with a queue that is larger than any segment.
func (b box) shortInQueue() {
	b.t.Helper()
	for _, letter := range []string{"a", "b"} { // two segments
		b.run(strings.Repeat(letter, 2_200_000), "docket", "--store", b.store(), "send", "w", "-", "--no-drain")
	}
	size := sizeOf(b.t, b.path("w", "pending.json"))
	for _, more := range []int64{1, 60} {
		again := b.copy()
		args := []string{"send", "w", "NEW" + strings.Repeat("x", 100), "--no-drain"}
		a := again.limited(size+more, args)
		if a.status != statusFailed {
			b.t.Errorf("%d bytes left for the queue: got status %d, want %d", more, a.status, statusFailed)
		}
		what := fmt.Sprintf("%d bytes left for the queue", more)
		again.honest(what, args, a)
		again.sound(what, args)
	}
}

// copy returns a box with a copy of the store.
func (b box) copy() box {
	b.t.Helper()
	again := b
	again.dir = b.t.TempDir()
	if err := os.CopyFS(again.store(), os.DirFS(b.store())); err != nil {
		b.t.Fatal(err)
	}
	return again
}

// limited runs docket where no file can grow beyond a size.
func (b box) limited(size int64, args []string) answer {
	b.t.Helper()
	return b.run("", append([]string{"prlimit", "--fsize=" + strconv.FormatInt(size, 10), "docket", "--store", b.store()}, args...)...)
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
