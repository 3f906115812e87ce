package timeline_test

import (
	"testing"

	"github.com/docket-go/docket/timeline"
)

func TestDisplay(t *testing.T) {
	for _, tt := range []struct{ status, proposal, want string }{
		{"awaiting", "merge", "review"},
		{"awaiting", "nothing", "done"},
		{"awaiting", "close", "close-pending"},
		{"awaiting", "", "awaiting"},
		{"awaiting", "deploy", "deploy"},
		{"active", "", "working"},
		{"asking", "merge", "asking"},
		{"error", "", "error"},
		{"", "", ""},
	} {
		e := timeline.Event{Kind: timeline.KindStatus, Status: tt.status, Proposal: tt.proposal}
		if got := e.Display(); got != tt.want {
			t.Errorf("%s/%s: got %q, want %q", tt.status, tt.proposal, got, tt.want)
		}
	}
	if got := (timeline.Event{Kind: timeline.KindSent, Status: "active"}).Display(); got != "" {
		t.Errorf("message: got %q, want none", got)
	}
}
