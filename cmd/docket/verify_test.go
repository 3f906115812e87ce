package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// flagless is a call of a verb without flags, that prints to out.
func flagless(out *bytes.Buffer) *call {
	return &call{out: newOutput(out)}
}

// However many faults there are, printing them takes no longer for each.
func TestPrintFaultsOfALargeQueue(t *testing.T) {
	at := int64(1)
	found := make([]fault, 0, 400_000)
	for n := range cap(found) / 2 {
		found = append(found, fault{"s1", damage, "queue", &at, fmt.Sprint("part ", n), inQueue}, fault{"s1", note, "log", &at, "torn", inTimeline})
	}
	var out bytes.Buffer
	c, printed := flagless(&out), make(chan error, 1)
	go func() { printed <- c.printFaults(found) }()
	select {
	case err := <-printed:
		if err := c.out.flush(); err != nil {
			t.Error(err)
		}
		if lines := strings.Count(out.String(), "\n"); err != nil || lines != shownFaults+1 {
			t.Errorf("got %d lines and %v, want %d", lines, err, shownFaults+1)
		}
		if last := "s1: 399900 more faults: --verbose names them\n"; !strings.HasSuffix(out.String(), last) {
			t.Errorf("got no %q in the end", last)
		}
	case <-time.After(hanging):
		t.Fatal("it is not done: the time grows with the square of the number")
	}
}

// What may follow from a fault is counted, and what cannot is shown, wherever it stands.
func TestCauses(t *testing.T) {
	at := int64(1)
	log, other := fault{Path: "log", Severity: damage, Offset: &at, part: inTimeline}, fault{Path: "other", Severity: damage, Offset: &at, part: inTimeline}
	noted := fault{Path: "log", Severity: note, Offset: &at, part: inTimeline}
	part, lacks := fault{Path: "queue", Severity: damage, Offset: &at, part: inQueue}, fault{Path: "dir", Severity: damage, part: inQueue}
	unknown := fault{Path: "dir", Severity: damage, part: inQueueOnly}
	for _, tt := range []struct {
		name    string
		found   []fault
		shown   int
		follows string
	}{
		{"nothing", nil, 0, "map[]"},
		{"a segment's first damage", []fault{log, log, other, log, other}, 2, "map[log:2 other:1]"},
		{"notes are no damage", []fault{noted, log, noted}, 3, "map[]"},
		{"each part of a queue by itself", []fault{part, part}, 2, "map[]"},
		{"a queue that cannot be read lacks messages", []fault{part, lacks, lacks, unknown}, 2, "map[dir:2]"},
		{"a queue that can be read", []fault{lacks, lacks, unknown}, 3, "map[]"},
	} {
		shown, follow := causes(tt.found)
		if len(shown) != tt.shown || fmt.Sprint(follow) != tt.follows {
			t.Errorf("%s: got %d shown and %v, want %d and %s", tt.name, len(shown), follow, tt.shown, tt.follows)
		}
	}
}
