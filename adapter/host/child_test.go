//go:build linux || darwin

package host_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

func session(dir string) adapter.Session { return adapter.Session{ID: "s1", Dir: dir} }

// run starts the test binary as a broker of its own.
func run(t *testing.T, env ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", "HOST_TEST_ROLE=broker"), env...)
	c.Stderr = t.Output()
	if _, err := c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c
}

// child is what the other process does: it is a broker until its standard input ends, or
// saves a file and dies.
func child(role string) int {
	if role == "save" {
		hosttest.DieAt(os.Getenv("HOST_TEST_STEP"))
		_ = host.File{Dir: os.Getenv("HOST_TEST_DIR"), Name: "kept.json"}.Save("new")
		return 0
	}
	b, err := host.Open(host.Options{Session: session(os.Getenv("HOST_TEST_DIR")), Start: sleeps(os.Getenv("HOST_TEST_PIDS"))})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	if err := b.Serve(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// alive reports whether a process runs; one that is dead and not waited for does not.
func alive(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", fmt.Sprint(pid)).Output()
	return err == nil && !strings.HasPrefix(strings.TrimSpace(string(state)), "Z")
}
