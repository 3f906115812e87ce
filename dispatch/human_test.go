package dispatch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// Whoever wrote the last message of a person, and whatever came behind it, the next
// person who does not say so reads at the terminal is told so exactly after a note.
func TestLastHumanOfAnyWriter(t *testing.T) {
	w := &world{t: t, dir: t.TempDir(), agent: &agent{}, buffered: true}
	w.reopen(dispatch.Options{})
	other := dispatch.New(w.store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "agent",
		Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return w.agent, nil },
	}}})
	t.Cleanup(func() { other.Close() })
	n, foreign := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		id := fmt.Sprint("s", n)
		w.create(id)
		s, err := w.store.Open(id)
		must(t, err)
		defer s.Release()
		last := timeline.Terminal
		send := func(d *dispatch.Dispatcher, m dispatch.Message) dispatch.Accepted {
			m.Text = "hello"
			a, err := d.SendText(t.Context(), id, m)
			must(t, err)
			return a
		}
		dispatcher := rapid.SampledFrom([]*dispatch.Dispatcher{w.Dispatcher, other})
		rt.Repeat(map[string]func(*rapid.T){
			"by note": func(rt *rapid.T) {
				send(dispatcher.Draw(rt, "by"), dispatch.Message{ReplyVia: compose.Note, NoDrain: true})
				last = timeline.Note
			},
			"from an agent": func(rt *rapid.T) {
				send(dispatcher.Draw(rt, "by"), dispatch.Message{From: "lead", NoDrain: rapid.Bool().Draw(rt, "no drain")})
			},
			"another program": func(rt *rapid.T) {
				foreign++
				sent := timeline.Sent{Time: time.Now(), MID: fmt.Sprint("other-", foreign), Text: "hello", NoDebt: true}
				sent.ReplyVia = rapid.SampledFrom([]timeline.Channel{timeline.Note, timeline.Terminal}).Draw(rt, "via")
				_, err := s.Timeline().Append(t.Context(), sent)
				must(t, err)
				last = sent.ReplyVia
			},
			"a declaration": func(rt *rapid.T) {
				_, err := s.Declare(t.Context(), session.Declaration{Status: rapid.SampledFrom([]string{"active", "idle"}).Draw(rt, "status")})
				must(t, err)
			},
			"a person": func(rt *rapid.T) {
				a := send(dispatcher.Draw(rt, "by"), dispatch.Message{})
				if got := w.agent.last(); got.MID != a.MID || strings.Contains(got.Text, compose.DefaultTerminalReply) != (last == timeline.Note) {
					rt.Fatalf("got %q behind a person who reads by %s", got.Text, last)
				}
				last = timeline.Terminal
			},
		})
	})
}
