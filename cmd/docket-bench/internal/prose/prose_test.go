package prose_test

import (
	"encoding/json"
	"testing"

	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
)

// Every contestant gets the same bytes: a line says what the message says.
func TestLines(t *testing.T) {
	different := map[string]bool{}
	for n := range uint64(5000) {
		line := prose.Line(n)
		var got struct{ Kind, Text string }
		if err := json.Unmarshal(line, &got); err != nil || len(line) != prose.LineBytes || line[len(line)-1] != '\n' {
			t.Fatalf("line %d is %d bytes long, %v: %s", n, len(line), err, line)
		}
		if got.Kind != "sent" || got.Text != prose.Text(n) || prose.Sent(n).Text != got.Text {
			t.Fatalf("line %d is not message %d: %s", n, n, line)
		}
		different[got.Text] = true
	}
	if len(different) < 4000 {
		t.Errorf("got %d different texts of 5000", len(different))
	}
}
