package compose_test

import (
	"testing"

	"github.com/docket-go/docket/compose"
	"pgregory.net/rapid"
)

// sent is what a timeline keeps of a message.
type sent struct {
	from string
	via  compose.Channel
}

// lastHuman reads the log as a timeline does: backward, to the first human.
func lastHuman(log []sent) compose.Channel {
	for i := len(log) - 1; i >= 0; i-- {
		if log[i].from == "" {
			return log[i].via
		}
	}
	return ""
}

// TestCounterInsertComesExactlyOnce runs histories of messages against a model
// that knows nothing but one bit: a human's note has not been taken back yet.
func TestCounterInsertComesExactlyOnce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var log []sent
		var sticky bool
		for range rapid.IntRange(1, 30).Draw(rt, "sends") {
			r := compose.Request{
				Text:      rapid.String().Draw(rt, "text"),
				From:      rapid.SampledFrom([]string{"", "", "peer", "other"}).Draw(rt, "from"),
				Explicit:  rapid.SampledFrom([]compose.Channel{none, terminal, note}).Draw(rt, "explicit"),
				Headless:  rapid.Bool().Draw(rt, "headless"), // a session may change its adapter
				LastHuman: lastHuman(log),
			}
			got, err := compose.Texts{}.Compose(r)
			if err != nil {
				rt.Fatal(err)
			}
			log = append(log, sent{r.From, got.Via})

			human := r.From == ""
			if want := human && got.Via == terminal && sticky; (got.Insert == compose.TerminalReply) != want {
				rt.Fatalf("message %d: got insert %s, want the counter-insert: %v", len(log), got.Insert, want)
			}
			if human {
				sticky = got.Via == note
			}
		}
	})
}
