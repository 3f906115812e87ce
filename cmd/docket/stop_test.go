package main

import (
	"bytes"
	"strings"
	"testing"
)

// What may not be broken off waits until signals are heard; what only reads does not.
func TestBriefVerbsDoNotWaitForSignals(t *testing.T) {
	store := t.TempDir()
	do := func(args ...string) string {
		var out, complaint bytes.Buffer
		if status := run(t.Context(), t.Context(), append(args, "--store", store), strings.NewReader(""), &out, &complaint); status != statusDone {
			t.Errorf("docket %q: status %d: %s", args, status, &complaint)
		}
		return out.String()
	}
	do("new", "s1")

	listening.Add(1)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		do("send", "s1", "run the tests")
	}()
	for range 100 {
		if log := do("log", "s1"); log != "" {
			t.Error("the message is accepted before signals are heard")
			break
		}
	}
	listening.Done()
	<-sent
	if log := do("log", "s1"); !strings.Contains(log, "run the tests") {
		t.Errorf("got %q, want the message", log)
	}
	for v := range verbs {
		if v.brief && v.changes {
			t.Errorf("docket %s changes something, and does not wait for signals", v.name)
		}
	}
}
