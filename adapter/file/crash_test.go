package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/file"
	"github.com/docket-go/docket/lock/step"
)

// The test binary runs itself as a writer with these variables.
const (
	pathVariable  = "FILE_TEST_PATH"
	midsVariable  = "FILE_TEST_MIDS"
	crashVariable = "FILE_TEST_CRASH"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(pathVariable); path != "" {
		os.Exit(writer(path))
	}
	os.Exit(m.Run())
}

// writer inserts the mids of its environment and dies at the step named there.
func writer(path string) int {
	crash := os.Getenv(crashVariable)
	step.Hook(func(name string) {
		if name == crash {
			killSelf()
		}
	})
	a, err := file.New(file.Options{Path: path})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for mid := range strings.FieldsSeq(os.Getenv(midsVariable)) {
		if err := a.Insert(context.Background(), adapter.Prompt{MID: mid, Text: "by a child"}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return 0
}

func child(t *testing.T, path, crash string, mids ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", pathVariable+"="+path, crashVariable+"="+crash, midsVariable+"="+strings.Join(mids, " "))
	c.Stderr = os.Stderr
	return c
}

// TestCrashInsideInsert kills a writer between every two steps. Afterwards a look
// knows whether its prompt arrived, and a redelivery of what did not leaves it
// there exactly once.
func TestCrashInsideInsert(t *testing.T) {
	for _, tt := range []struct {
		step string
		want adapter.Presence
	}{
		{"adapter/file: opened", adapter.Absent},
		{"adapter/file: healed", adapter.Absent},
		{"adapter/file: written", adapter.Present},
		{"adapter/file: synced", adapter.Present},
	} {
		path := filepath.Join(t.TempDir(), "f")
		a := open(t, path)
		if err := a.Insert(t.Context(), adapter.Prompt{MID: "m1", Text: "x"}); err != nil {
			t.Fatal(err)
		}
		var died *exec.ExitError
		if err := child(t, path, tt.step, "m2").Run(); !errors.As(err, &died) || died.ExitCode() == 1 {
			t.Fatalf("%s: got %v, want the child dead", tt.step, err)
		}
		p, err := a.Lookup(t.Context(), "m2")
		if p != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.step, p, err, tt.want)
		}
		if p == adapter.Absent {
			if err := a.Insert(t.Context(), adapter.Prompt{MID: "m2", Text: "x"}); err != nil {
				t.Fatal(err)
			}
		}
		equal(t, tt.step, mids(t, path), []string{"m1", "m2"})
	}
}

// TestTornAtEveryByte cuts the last line at each of its bytes, as a kill inside
// the write does.
func TestTornAtEveryByte(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	a := open(t, path)
	for _, mid := range []string{"m1", "m2"} {
		if err := a.Insert(t.Context(), adapter.Prompt{MID: mid, Text: "a \"quoted\"\ntext \u4f60", From: "peer"}); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	second := bytes.IndexByte(whole, '\n') + 1
	for cut := second; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := a.Lookup(t.Context(), "m2"); p != adapter.Absent {
			t.Fatalf("cut at %d: got %s, %v, want absent", cut-second, p, err)
		}
		if err := a.Insert(t.Context(), adapter.Prompt{MID: "m3"}); err != nil {
			t.Fatal(err)
		}
		equal(t, fmt.Sprintf("cut at %d", cut-second), mids(t, path), []string{"m1", "m3"})
	}
}

func TestForeignEndIsKept(t *testing.T) {
	for _, foreign := range []string{"x", `{"mid":"m1"}`, `{"ts":1`, strings.Repeat("y", 200_000), "\x00"} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte("first\n"+foreign), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := open(t, path).Insert(t.Context(), adapter.Prompt{MID: "m1"}); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(got), "first\n"+foreign+"\n{\"ts\":") {
			t.Errorf("%.20q: got file %.60q, %v, want it kept with a newline behind it", foreign, got, err)
		}
	}
}

// TestProcessesRace has several processes write one file at once, one of them
// dying: every prompt of the others is there once, in its writer's order.
func TestProcessesRace(t *testing.T) {
	const writers, each = 4, 15
	path := filepath.Join(t.TempDir(), "f")
	var wg sync.WaitGroup
	for w := range writers {
		var list []string
		for i := range each {
			list = append(list, fmt.Sprintf("w%d-%02d", w, i))
		}
		c := child(t, path, "", list...)
		wg.Go(func() {
			if err := c.Run(); err != nil {
				t.Errorf("writer %d: %v", w, err)
			}
		})
	}
	dying := child(t, path, "adapter/file: written", "dead")
	wg.Go(func() { _ = dying.Run() })
	wg.Wait()
	next := map[string]int{}
	for _, mid := range mids(t, path) {
		w, i, _ := strings.Cut(mid, "-")
		if w != "dead" && i != fmt.Sprintf("%02d", next[w]) {
			t.Errorf("writer %s: got %s, want number %02d", w, i, next[w])
		}
		next[w]++
	}
	for w := range writers {
		if got := next[fmt.Sprintf("w%d", w)]; got != each {
			t.Errorf("writer %d: got %d prompts, want %d", w, got, each)
		}
	}
	if next["dead"] != 1 { // it died after the write
		t.Errorf("dead writer: got %d prompts, want 1", next["dead"])
	}
}

// killSelf ends the process as kill -9 does: nothing runs after it.
func killSelf() {
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		panic(err)
	}
	if err := p.Kill(); err != nil {
		panic(err)
	}
	select {}
}
