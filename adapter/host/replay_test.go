//go:build linux || darwin

package host_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// A recorder leaves at every place of a turn and another goes on behind what it had: no
// emission is lost or doubled, wherever it was cut.
func TestRebindAtEveryPlace(t *testing.T) {
	const last = 5
	for cut := range last + 1 {
		dir, agent := newDir(t), newFake()
		sinks := make(chan host.Sink, 1)
		agent.set(holds(sinks))
		serve(t, dir, only(agent))
		first := record(t, dir, func(d *desk) { d.stall = func(host.Emission) bool { return false } })
		insert(t, dir, prompt("m1"), adapter.Taken)
		to := receive(t, "sink", sinks)
		emit := func(from, until int) {
			for n := from; n < until; n++ {
				if n == last-1 {
					to.Finish(host.Native{}, success)
				} else {
					to.Emit(host.Native{}, host.Text{Text: fmt.Sprint(n + 1)})
				}
			}
		}
		emit(0, cut)
		said := first.wait(t, cut)
		var token string
		if cut > 0 {
			token = first.emissions()[0].Token
		}
		first.owner.Close()
		emit(cut, min(cut+1, last))
		again := attach(t, dir)
		has := again.Attachment()
		if token != "" && has.Token != token || has.Last != uint64(min(cut+1, last)) || !has.Minted(has.Token) || has.Minted("x") {
			t.Errorf("cut at %d: got %+v, want the turn as it is", cut, has)
		}
		if err := again.Rebind("of another turn", 0); !errors.Is(err, host.ErrToken) {
			t.Errorf("cut at %d: got %v, want ErrToken", cut, err)
		}
		if err := again.Rebind(has.Token, has.Last+1); !errors.Is(err, host.ErrGap) {
			t.Errorf("cut at %d: got %v, want ErrGap for what was not emitted yet", cut, err)
		}
		if err := again.Rebind(has.Token, uint64(cut)); err != nil {
			t.Fatal(err)
		}
		second := &desk{owner: again, ended: make(chan struct{})}
		go second.run()
		emit(min(cut+1, last), last)
		said = append(said, second.wait(t, last-cut)...)
		equal(t, fmt.Sprintf("cut at %d", cut), said, "1 text 1", "2 text 2", "3 text 3", "4 text 4", "5 finished success/")
		if cut < last {
			idle(t, dir)
		}
		if got := len(agent.received()); got != 1 {
			t.Errorf("cut at %d: got %d dispatches, want 1", cut, got)
		}
	}
}

// What was acknowledged is not kept; to ask for it is an error and no gap.
func TestAcknowledgedIsForgotten(t *testing.T) {
	dir, agent := newDir(t), newFake()
	sinks := make(chan host.Sink, 1)
	agent.set(holds(sinks))
	serve(t, dir, only(agent))
	d := record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	to := receive(t, "sink", sinks)
	for range 3 {
		to.Emit(host.Native{}, host.Text{Text: "x"})
	}
	d.wait(t, 3)
	token := d.emissions()[0].Token
	if err := errors.Join(d.owner.Ack("another", 3), d.owner.Ack(token, 2), d.owner.Ack(token, 1)); err != nil {
		t.Fatal(err)
	}
	d.owner.Close()
	again := attach(t, dir)
	if err := again.Rebind(token, 1); !errors.Is(err, host.ErrGap) {
		t.Errorf("behind 1: got %v, want ErrGap", err)
	}
	if err := again.Rebind(token, 2); err != nil {
		t.Errorf("behind 2: got %v, want nil", err)
	}
	if n, err := again.Next(); err != nil || n.(host.Emission).N != 3 {
		t.Errorf("got %v, %v, want emission 3", n, err)
	}
}

// A turn that emits more than may wait for an absent recorder is ended, and what it
// emitted before is whole.
func TestReplayIsBounded(t *testing.T) {
	dir := newDir(t)
	agents, sinks := make(chan *fake, 2), make(chan host.Sink, 2)
	serve(t, dir, starts(agents, holds(sinks)), func(o *host.Options) { o.ReplayBytes = 100_000 })
	d := record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	to := receive(t, "sink", sinks)
	d.owner.Close()
	again := attach(t, dir) // the one before has left; this one asks for nothing yet
	for range 200 {         // twice as much as fits
		to.Emit(host.Native{}, host.Text{Text: strings.Repeat("x", 1000)})
	}
	agent := receive(t, "agent", agents)
	eventually(t, "its program is ended", func() bool {
		select {
		case <-agent.done:
			return true
		default:
			return false
		}
	})
	has := again.Attachment()
	if err := again.Rebind(has.Token, 0); err != nil {
		t.Fatal(err)
	}
	next := &desk{owner: again, ended: make(chan struct{})}
	go next.run()
	eventually(t, "the turn is finished", func() bool {
		all := next.emissions()
		if len(all) == 0 {
			return false
		}
		_, over := all[len(all)-1].Value.(host.Finished)
		return over
	})
	all := next.emissions()
	for i, e := range all {
		if e.N != uint64(i+1) {
			t.Fatalf("got number %d at place %d, want no gap", e.N, i+1)
		}
	}
	if f := all[len(all)-1].Value.(host.Finished); f.Outcome != host.Interrupted || f.Code != host.CodeReplayOverflow || f.Diagnostic == "" {
		t.Errorf("got %+v, want replay_overflow with the bound", f)
	}
	if len(all) > 100 || len(all) < 50 {
		t.Errorf("got %d emissions, want about as many as fit", len(all))
	}
	idle(t, dir)
	insert(t, dir, prompt("m2"), adapter.Taken) // by a new program
}

// A recorder that reads nothing keeps nobody from working, and gets everything when it
// reads again.
func TestSlowRecorder(t *testing.T) {
	dir, agent := newDir(t), newFake()
	sinks := make(chan host.Sink, 1)
	agent.set(holds(sinks))
	serve(t, dir, only(agent))
	read := make(chan struct{})
	d := record(t, dir, func(d *desk) { d.stall = func(host.Emission) bool { <-read; return true } })
	insert(t, dir, prompt("m1"), adapter.Taken)
	to := receive(t, "sink", sinks)
	const many = 1000
	for n := range many { // far more than a socket holds
		to.Emit(host.Native{}, host.Text{Text: fmt.Sprintf("%d %s", n, strings.Repeat("x", 1000))})
	}
	to.Finish(host.Native{}, success)
	if s, err := host.NewClient(dir).Probe(t.Context()); s != adapter.Busy {
		t.Errorf("Probe: got %s, %v, want busy", s, err)
	}
	close(read)
	d.wait(t, many+1)
	for i, e := range d.emissions() {
		if e.N != uint64(i+1) {
			t.Fatalf("got number %d at place %d, want no gap", e.N, i+1)
		}
	}
	idle(t, dir)
}

// Texts reach the agent and the recorder byte for byte; what cannot be recorded as it is
// becomes valid, and a long one comes in pieces.
func TestHostileTexts(t *testing.T) {
	dir, agent := newDir(t), newFake()
	sinks := make(chan host.Sink, 1)
	agent.set(holds(sinks))
	serve(t, dir, only(agent))
	d := record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	to := receive(t, "sink", sinks)
	hostile := []string{"", "\x00\x01\x1b[31m\x7f", "\u2028\u2029\ufeff</script>&amp;", `{"type":"ready"}`, "a\nb\r\n{\"type\":\"idle\"}\n", "\U0001F600é"}
	for _, text := range hostile {
		to.Emit(host.Native{Provider: text, Item: text}, host.Text{Text: text})
	}
	long := strings.Repeat("né", 100<<10)
	to.Emit(host.Native{}, host.Thought{Text: long})
	to.Emit(host.Native{Session: strings.Repeat("s", 5000)}, host.Tool{ID: "\xff", Title: strings.Repeat("t", 10_000), Status: "exploded"})
	to.Emit(host.Native{}, host.Finished{Outcome: host.Failure}) // only Finish finishes
	to.Emit(host.Native{}, nil)
	to.Finish(host.Native{}, host.Finished{Outcome: "splendid", Code: strings.Repeat("c", 5000)})
	eventually(t, "the turn is over", func() bool {
		all := d.emissions()
		return len(all) > 0 && short(all[len(all)-1:])[0] == fmt.Sprintf("%d finished interrupted/%s", len(all), strings.Repeat("c", 1024))
	})
	var texts []string
	thought := ""
	for _, e := range d.emissions() {
		switch v := e.Value.(type) {
		case host.Text:
			texts = append(texts, v.Text)
			if e.Native.Item != v.Text {
				t.Errorf("got provenance %q, want %q", e.Native.Item, v.Text)
			}
		case host.Thought:
			thought += v.Text
			if len(v.Text) > 256<<10 {
				t.Errorf("got a piece of %d bytes, want them bounded", len(v.Text))
			}
		case host.Tool:
			if v.ID != "\uFFFD" || len(v.Title) != 4096 || v.Status != host.ToolRunning || len(e.Native.Session) != 1024 {
				t.Errorf("got %+v, want it tamed", v)
			}
		}
	}
	if !slices.Equal(texts, hostile) || thought != long {
		t.Errorf("got texts %q and a thought of %d bytes, want %q and %d", texts, len(thought), hostile, len(long))
	}
}

// The recorder dies between the offer and the dispatch: nothing reached the agent, and
// the sender is told so.
func TestRecorderLeavesBeforeTheDispatch(t *testing.T) {
	dir, agent := newDir(t), newFake()
	serve(t, dir, only(agent))
	o := attach(t, dir)
	if err := o.Ready(""); err != nil {
		t.Fatal(err)
	}
	idle(t, dir)
	answer := make(chan error, 1)
	go func() { answer <- host.NewClient(dir).Insert(context.Background(), prompt("m1")) }()
	token := ""
	for token == "" {
		n, err := o.Next()
		if err != nil {
			t.Fatal(err)
		}
		if offer, ok := n.(host.Offer); ok {
			token = offer.Token
		}
	}
	o.Close()
	if err := receive(t, "answer", answer); !errors.Is(err, adapter.ErrBlocked) {
		t.Errorf("got %v, want it refused: blocked", err)
	}
	again := attach(t, dir)
	if has := again.Attachment(); has.Token != "" || !has.Minted(token) {
		t.Errorf("got %+v, want that the token %s was never dispatched", has, token)
	}
	if err := again.Rebind(token, 0); !errors.Is(err, host.ErrToken) {
		t.Errorf("Rebind: got %v, want ErrToken", err)
	}
	again.Close()
	record(t, dir)
	if p, err := host.NewClient(dir).Lookup(t.Context(), "m1"); p != adapter.Absent || err != nil {
		t.Errorf("Lookup: got %s, %v, want absent", p, err)
	}
	insert(t, dir, prompt("m1"), adapter.Taken)
	if got := agent.received(); len(got) != 1 {
		t.Errorf("got %d prompts at the agent, want 1", len(got))
	}
}
