package segment_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/segment"
)

const (
	childDir  = "SEGMENT_TEST_DIR"
	childStep = "SEGMENT_TEST_STEP" // name and how often it may pass
	childSeed = "SEGMENT_TEST_SEED"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		writeUntilKilled(dir)
		return
	}
	os.Exit(m.Run())
}

// A childTB is what a child process fails with.
type childTB struct{}

func (childTB) Helper() {}
func (childTB) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

var crashOptions = segment.Options{SegmentBytes: 2500}

// writeUntilKilled writes calls of one to three lines, prints the ids of each call
// once it is synced, and seals now and then.
func writeUntilKilled(dir string) {
	name, count, _ := strings.Cut(os.Getenv(childStep), "#")
	left, _ := strconv.Atoi(count)
	step.Hook(func(reached string) {
		if reached != name {
			return
		}
		if left--; left < 0 {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
	})
	seed, _ := strconv.ParseUint(os.Getenv(childSeed), 10, 64)
	random := rand.New(rand.NewPCG(seed, 1))
	f := newFixture(childTB{}, dir, crashOptions)
	for i := 0; ; i++ {
		var lines, ids []string
		for j := range 1 + random.IntN(3) {
			id := fmt.Sprintf("%d.%d.%d", seed, i, j)
			ids = append(ids, id)
			lines = append(lines, fmt.Sprintf(`{"kind":"p","id":%q,"x":"%0*d"}`, id, random.IntN(1200), 0))
		}
		must(childTB{}, f.log.Sync(f.write(childTB{}, lines...)))
		fmt.Println(strings.Join(ids, " "))
		if i%7 == 6 {
			_, err := f.log.Seal(context.Background(), f.locks)
			must(childTB{}, err)
		}
		if i == 60 {
			return // the step is never reached that often
		}
	}
}

// child runs one writer on dir until it dies, kills it after that many
// acknowledged calls if kill is not negative, and returns the acknowledged ids.
func child(t *testing.T, dir, step string, seed, kill int) (acked []string, died bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childStep+"="+step, fmt.Sprint(childSeed, "=", seed))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	r := bufio.NewReader(out)
	for calls := 0; ; calls++ {
		if calls == kill {
			must(t, cmd.Process.Kill())
			kill = -1
		}
		line, err := r.ReadString('\n')
		if err == io.EOF {
			break
		}
		must(t, err)
		acked = append(acked, strings.Fields(line)...)
	}
	err = cmd.Wait()
	if cmd.ProcessState.Exited() && err != nil {
		t.Fatalf("child: %v", err)
	}
	return acked, err != nil
}

// checkAfterDeath checks a log whose writer died: what was acknowledged is there
// exactly once and in order, and the next write is appended whole.
func checkAfterDeath(t *testing.T, f *fixture, acked []string, what string) {
	t.Helper()
	if _, damage := verify(t, f.log); len(damage) > 0 {
		t.Fatalf("%s: verify finds %v", what, damage)
	}
	w := f.write(t, public("after "+what))
	items, bad := readFrom(t, f.handle(t), 0)
	if len(bad) > 0 {
		t.Fatalf("%s: got damage %v", what, bad)
	}
	at := map[string]int{}
	for i, it := range items {
		if _, twice := at[it.id]; twice || it.seq != uint64(i) {
			t.Fatalf("%s: %v is at place %d (twice: %v)", what, it, i, twice)
		}
		at[it.id] = i
	}
	last := -1
	for _, id := range acked {
		i, there := at[id]
		if !there || i <= last {
			t.Fatalf("%s: acknowledged %s is at place %d (there: %v) behind %d", what, id, i, there, last)
		}
		last = i
	}
	if items[len(items)-1] != (item{"after " + what, true, w.First}) {
		t.Fatalf("%s: got %v last", what, items[len(items)-1])
	}
	if notes, damage := verify(t, f.log); len(damage) > 0 {
		t.Fatalf("%s: verify finds %v %v", what, notes, damage)
	}
}

// A writer dies at every step, at its first passage and at later ones, always on
// the log that the dead ones before it left.
func TestKilledAtEachStep(t *testing.T) {
	f := newFixture(t, t.TempDir(), crashOptions)
	defer f.close()
	var acked []string
	for i, name := range []string{
		"segment: directory made", "segment: first created", "segment: directory synced", "segment: header written",
		"segment: header drafted", "segment: created",
		"segment: appended", "segment: old segment synced", "segment: torn tail found", "segment: torn tail removed",
		"segment: seal draft created", "segment: seal draft written", "segment: seal named",
		"segment: seal name synced", "segment: plain file removed",
	} {
		for _, passes := range []int{0, 2} {
			if strings.Contains(name, "torn") {
				tear(t, newestPath(f))
			}
			if slices.Contains([]string{"segment: directory made", "segment: first created", "segment: directory synced", "segment: header written"}, name) && passes == 0 {
				must(t, os.RemoveAll(f.opts.Dir))
				acked = nil
			}
			what := fmt.Sprintf("%s#%d", name, passes)
			ids, died := child(t, f.dir, what, 10*i+passes+1, -1)
			if !died && passes == 0 {
				t.Errorf("%s was never reached", what)
			}
			acked = append(acked, ids...)
			checkAfterDeath(t, f, acked, what)
		}
	}
}

func tear(t *testing.T, path string) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer file.Close()
	_, err = file.WriteString(`{"kind":"p","id":"torn`)
	must(t, err)
}

// A writer is killed at moments that nobody chose.
func TestKilledAnywhere(t *testing.T) {
	f := newFixture(t, t.TempDir(), crashOptions)
	defer f.close()
	var acked []string
	for i := range 12 {
		ids, _ := child(t, f.dir, "", 1000+i, i%5)
		acked = append(acked, ids...)
		checkAfterDeath(t, f, acked, fmt.Sprint("kill ", i))
	}
}
