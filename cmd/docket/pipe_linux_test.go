package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// unread runs docket with a pipe as standard output that nobody reads any more, and
// returns how it ended and what it complained about.
func (b box) unread(args ...string) (*os.ProcessState, string) {
	b.t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		b.t.Fatal(err)
	}
	reader.Close()
	defer writer.Close()
	var complaints bytes.Buffer
	cmd := exec.Command("docket", append([]string{"--store", b.store()}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = b.dir, b.env, writer, &complaints
	cmd.Run()
	return cmd.ProcessState, complaints.String()
}

// Who reads the output of a verb that changes something and leaves does not kill it in
// the middle of that, and is told on standard error; a message by its id. A verb that
// only reads ends as other programs do.
func TestNobodyReads(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.must("new", "w")
	for _, args := range [][]string{
		{"send", "w", "one", "--no-drain"}, {"send", "w", "two"}, {"send", "w", "three", "--json"}, {"send", "w", "four", "--key", "k"}, {"send", "w", "four", "--key", "k"},
	} {
		state, complaints := b.unread(args...)
		mids := b.mids("log")
		if want := "message " + mids[len(mids)-1] + " is accepted: standard output: "; state.ExitCode() != statusFailed || !strings.Contains(complaints, want) {
			t.Errorf("%v: got %v and %q, want status %d and %q", args, state, complaints, statusFailed, want)
		}
	}
	for _, args := range [][]string{
		{"new", "x"}, {"declare", "w", "--status", "a"}, {"ask", "w"}, {"seal", "w"}, {"repair", "w"}, {"archive", "w"},
		{"drain", "w", "--adapter", "file", "--set", "path=inbox"}, {"retire", "w"}, {"close", "x"},
	} {
		if state, complaints := b.unread(args...); state.ExitCode() != statusFailed || !strings.Contains(complaints, "standard output: ") {
			t.Errorf("%v: got %v and %q, want status %d and a complaint", args, state, complaints, statusFailed)
		}
	}
	for _, reads := range []string{"log", "show", "verify"} {
		if state, complaints := b.unread(reads, "w"); state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE || complaints != "" {
			t.Errorf("%s: got %v and %q, want it ended by %v", reads, state, complaints, syscall.SIGPIPE)
		}
	}
}
