package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A start makes the verb that is named, and no other.
func TestStartMakesOneVerb(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() {
		if in, err := parse([]string{"log", "s1", "--limit", "20"}); err != nil || in.verb.name != "log" {
			t.Fatalf("got %+v, %v", in, err)
		}
	}); n > 12 { // all verbs take 40
		t.Errorf("got %v allocations, want a few", n)
	}
}

// What docket imports is set up each time that it starts, whatever the verb.
func TestStartSetsUpNothingHeavy(t *testing.T) {
	list, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Skipf("needs go: %v", err)
	}
	for _, heavy := range []string{"text/template", "html/template", "go/ast", "encoding/gob", "encoding/xml", "testing", "net/http/pprof", "expvar", "runtime/pprof"} {
		if slices.Contains(strings.Fields(string(list)), heavy) {
			t.Errorf("docket imports %s", heavy)
		}
	}
}
