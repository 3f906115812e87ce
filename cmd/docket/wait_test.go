package main

import (
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline"
)

// What help says that wait waits for, and all the other words of the verbs, are what
// stops the work and what does not.
func TestFinishedStops(t *testing.T) {
	waited := strings.Split(finished, ",")
	for _, word := range displayWords {
		e := timeline.Event{Kind: timeline.KindStatus, Status: word}
		named := strings.Contains(","+finished+",", ","+word+",")
		if e.Stops() != named {
			t.Errorf("%s stops: got %v, want %v", word, e.Stops(), named)
		}
	}
	if len(waited) != 5 {
		t.Errorf("got %d words, want 5 of the verbs", len(waited))
	}
}
