package lock_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
)

// TestMain also serves as the other process: DOCKET_LOCK_CHILD names what the
// child does with the directory in its first argument.
func TestMain(m *testing.M) {
	if role := os.Getenv("DOCKET_LOCK_CHILD"); role != "" {
		if err := child(role, os.Getenv("DOCKET_LOCK_DIR")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child does its part, says "ready" on stdout, and waits for the end of stdin.
func child(role, dir string) error {
	d, err := lock.Open(dir, lock.Options{})
	if err != nil {
		return err
	}
	switch role {
	case "count":
		return countTo(d, 200)
	case "hold-delivery":
		if _, err := d.Delivery(context.Background()); err != nil {
			return err
		}
	case "hold-turns":
		if _, err := d.TryTurns(); err != nil {
			return err
		}
	case "hold-record", "die-inside":
		r, err := d.Record(context.Background())
		if err != nil {
			return err
		}
		if role == "die-inside" {
			if err := r.Begin(); err != nil {
				return err
			}
		}
	}
	fmt.Println("ready")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// countTo raises the number in the file "count" n times, read and written under
// the record lock: any failure of the exclusion loses a count.
func countTo(d *lock.Dir, n int) error {
	path := d.Path() + "/count"
	for range n {
		r, err := d.Record(context.Background())
		if err != nil {
			return err
		}
		var count int
		text, err := os.ReadFile(path)
		if err == nil {
			_, err = fmt.Sscan(string(text), &count)
		}
		if err == nil {
			err = os.WriteFile(path, fmt.Append(nil, count+1), 0o600)
		}
		if err != nil {
			return err
		}
		if err := r.Release(); err != nil {
			return err
		}
	}
	return nil
}

// start runs the test binary as the other process, and returns once it is ready.
func start(t *testing.T, role, dir string) *exec.Cmd {
	t.Helper()
	cmd := command(role, dir)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if strings.TrimSpace(line) != "ready" {
		t.Fatalf("the child %s said %q, %v", role, line, err)
	}
	return cmd
}

func command(role, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "DOCKET_LOCK_CHILD="+role, "DOCKET_LOCK_DIR="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

func open(t *testing.T, dir string, o lock.Options) *lock.Dir {
	t.Helper()
	d, err := lock.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func record(t *testing.T, d *lock.Dir) *lock.Record {
	t.Helper()
	r, err := d.Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func release(t *testing.T, r interface{ Release() error }) {
	t.Helper()
	if err := r.Release(); err != nil {
		t.Fatal(err)
	}
}

// eventually polls until ok answers true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("never: %s", what)
		}
	}
}
