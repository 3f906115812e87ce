package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/session"
)

// People are told neither which package an error is of nor what they named
// themselves, however deep that stands; what an agent printed stays as it is.
func TestOwnWords(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"a sentinel", queue.ErrFull, "full"},
		{"behind its object", fmt.Errorf("session s1: message m1 is owed: %w", queue.ErrNotPending), "message m1 is owed: message is not pending"},
		{"stacked", fmt.Errorf("session s1: %w", fmt.Errorf("%w: %w", dispatch.ErrInDoubt, queue.ErrFull)), "written, but not promised: full"},
		{"of another session", fmt.Errorf("session s2: %w", session.ErrRetired), "session s2: retired"},
		{"twice", fmt.Errorf("send to session s1: %w", fmt.Errorf("session s1: %w", session.ErrNotFound)), "no such session"},
		{"where the name of a file ends like it", fmt.Errorf("session s1: record.lock: %w", fmt.Errorf("no: %w", lock.ErrUnsupported)), "record.lock: no: file system has no working locks"},
		{"behind the name of a file", fmt.Errorf("session s1: record.%w", lock.ErrUnsupported), "record.lock: file system has no working locks"},
		{"several", errors.Join(queue.ErrFull, session.ErrRetired), "full\nretired"},
		{"what an agent printed", &dispatch.PassError{Session: "s1", MID: "m1", Answer: adapter.Refused,
			Err: adapter.Refuse(errors.New("exec: exit status 1: queue: full"))}, "message m1 refused: exec: exit status 1: queue: full"},
	} {
		if got := ownWords("s1", tt.err); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What the disk refuses is told with what to do, but for what an adapter met there and
// for standard output, which is not the store's.
func TestWordsOfTheDisk(t *testing.T) {
	full, forbidden := &fs.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC}, &fs.PathError{Op: "open", Path: "f", Err: fs.ErrPermission}
	for _, tt := range []struct {
		err  error
		want string
	}{
		{full, full.Error() + ": make room on the disk first"},
		{forbidden, forbidden.Error() + ": run docket doctor"},
		{adapter.Refuse(forbidden), ownWords("s1", adapter.Refuse(forbidden))},
		{fmt.Errorf("%w: %w", errUnwritten, full), "standard output: " + full.Error()},
	} {
		if got := words("s1", tt.err); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

// Whoever interrupts a verb is told to run it again only if nothing can have come
// of it yet.
func TestInterruptedVerbs(t *testing.T) {
	again := map[string]bool{}
	for _, verb := range []string{
		"log", "pending", "state", "seal", "verify", "repair", "ls", "show", "adapters", "demo", "demo-agent", "version", "help", "completion", "complete",
		"doctor",
		"follow", "turns", "wait", "serve", "host", "top", // these have an end of their own
	} {
		again[verb] = true
	}
	for v := range verbs {
		if _, told := interrupted()[v.name]; told == again[v.name] {
			t.Errorf("docket %s, interrupted: got words of its own %v, want %v", v.name, told, !again[v.name])
		}
	}
	if !calledOff(fmt.Errorf("session s1: %w", context.Canceled)) || calledOff(fmt.Errorf("%w: %w", dispatch.ErrInDoubt, context.Canceled)) {
		t.Error("an error that says more than that the verb was interrupted is told in its own words")
	}
}

func TestNearest(t *testing.T) {
	words := []string{"send", "seal", "pending", "ask", "ls", "log", "json", "wait"}
	for typed, want := range map[string]string{
		"snd": "send", "sned": "send", "sent": "send", "peding": "pending", "pendign": "pending", "jso": "json", "lgo": "log",
		"shout": "", "x": "", "": "", "l": "", "a": "", "waitfor": "", "pendgin": "pending",
	} {
		if got := nearest(typed, words); got != want {
			t.Errorf("%q: got %q, want %q", typed, got, want)
		}
	}
}
