package timeline_test

import (
	"testing"

	"github.com/docket-go/docket/timeline"
)

func TestDisplay(t *testing.T) {
	for _, tt := range []struct {
		status, proposal, want string
		stops                  bool
	}{
		{"awaiting", "merge", "review", true},
		{"awaiting", "nothing", "done", true},
		{"awaiting", "close", "close-pending", true},
		{"awaiting", "", "awaiting", true},
		{"awaiting", "deploy", "deploy", true},
		{"active", "", "working", false},
		{"idle", "", "idle", false},
		{"parked", "", "parked", false},
		{"asking", "merge", "asking", true},
		{"error", "", "error", true},
		{"done", "", "done", true}, // declared by a name of its own
		{"deploying", "", "deploying", false},
		{"", "", "", false},
	} {
		e := timeline.Event{Kind: timeline.KindStatus, Status: tt.status, Proposal: tt.proposal}
		if got := e.Display(); got != tt.want {
			t.Errorf("%s/%s: got %q, want %q", tt.status, tt.proposal, got, tt.want)
		}
		if got := e.Stops(); got != tt.stops {
			t.Errorf("%s/%s stops: got %v, want %v", tt.status, tt.proposal, got, tt.stops)
		}
	}
	message := timeline.Event{Kind: timeline.KindSent, Status: "awaiting"}
	if got := message.Display(); got != "" || message.Stops() {
		t.Errorf("message: got %q, stops %v, want none and false", got, message.Stops())
	}
}
