package main

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
)

// BenchmarkVerb starts docket as a process, on a store with one session of 100 messages.
// The process is the test binary, which is larger than docket and has more to set up; beside
// it, a program that does nothing.
func BenchmarkVerb(b *testing.B) {
	env := append(os.Environ(), "DOCKET_HOME="+b.TempDir(), "DOCKET_SESSION=", "GORACE=atexit_sleep_ms=0")
	do := func(b *testing.B, name string, args ...string) []byte {
		cmd := exec.Command(name, args...)
		cmd.Env = env
		out, err := cmd.Output()
		if err != nil {
			b.Fatalf("%s %q: %v", name, args, err)
		}
		return out
	}
	do(b, "docket", "new", "s1")
	for range 100 {
		do(b, "docket", "send", "s1", "run the tests")
	}
	if n := bytes.Count(do(b, "docket", "log", "s1", "--json"), []byte("\n")); n != 100 {
		b.Fatalf("got %d lines of the log, want 100", n)
	}
	b.Run("true", func(b *testing.B) {
		if _, err := exec.LookPath("true"); err != nil {
			b.Skip("there is no program that does nothing")
		}
		for b.Loop() {
			do(b, "true")
		}
	})
	for _, args := range [][]string{{"version"}, {"ls"}, {"log", "s1", "--limit", "50"}, {"pending", "s1"}, {"send", "s1", "run the tests"}} {
		b.Run(args[0], func(b *testing.B) {
			for b.Loop() {
				do(b, "docket", args...)
			}
		})
	}
}
