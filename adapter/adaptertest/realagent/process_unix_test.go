//go:build unix

package realagent_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/adaptertest/realagent"
)

// TestEndTakesTheWholeGroup starts a program that leaves a child and does not end
// when it is asked to.
func TestEndTakesTheWholeGroup(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOCKET_AGENTS", dir)
	p := realagent.Program{Name: "stubborn", Binary: "stubborn"}
	if err := os.Mkdir(filepath.Join(dir, p.Name), 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\ntrap '' TERM\nsleep 1000 &\necho $! $SECRET.\nwhile :; do sleep 1; done\n"
	if err := os.WriteFile(filepath.Join(dir, p.Name, p.Binary), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SECRET", "of a person")
	process := realagent.New(t, p, "").Start()
	var child int
	eventually(t, "it says its child", func() bool {
		number, rest, _ := strings.Cut(process.Said(), " ")
		child, _ = strconv.Atoi(number)
		return rest == ".\n"
	})
	process.End()
	eventually(t, "the child is dead", func() bool { return errors.Is(syscall.Kill(child, 0), syscall.ESRCH) || zombie(child) })
}

// zombie reports whether a process is dead but was not waited for.
func zombie(pid int) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(b), ") Z ")
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}
