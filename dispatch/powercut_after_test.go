package dispatch_test

import (
	"errors"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
)

// readable returns the mids of the messages that the log can show.
func (p *plug) readable() []string {
	s, err := p.store.Open("s1")
	must(p.t, err)
	defer s.Release()
	var mids []string
	for e, err := range s.Timeline().All(p.t.Context()) {
		var bad *timeline.LineError
		if err != nil && !errors.As(err, &bad) {
			p.t.Fatal(err)
		}
		if err == nil {
			mids = append(mids, e.MID)
		}
	}
	return mids
}

// goesOn is what comes after the power is back: one ordinary command, then passes
// until nothing is owed. restarted says that the lock file tells of the cut.
func (p *plug) goesOn(rt *rapid.T, restarted bool) {
	before := len(p.order)
	p.firstCommand(rt, restarted)
	wrong, err := p.Disagreements(p.t.Context(), "s1")
	if err != nil || len(wrong) > 0 {
		rt.Fatalf("got %v, %v, want no disagreement after one command", wrong, err)
	}
	recorded := p.readable()
	p.checkRecorded(rt, recorded, before)
	ended := map[string]dispatch.Condition{}
	for _, mid := range recorded {
		c := p.condition("s1", mid)
		if c == dispatch.Delivered || c == dispatch.Revoked {
			ended[mid] = c
		}
		if was := p.now.ended[mid]; was != "" && was != c {
			rt.Fatalf("message %s: got %s, want %s, as was promised", mid, c, was)
		}
	}
	p.drainAll(rt)
	p.checkHandedOver(rt, recorded, ended)
	p.retry(rt, recorded)
}

// firstCommand may do anything. Where the lock file was lost with the queue, nobody
// knows of the cut, and a damaged queue waits for a repair.
func (p *plug) firstCommand(rt *rapid.T, restarted bool) {
	name := rapid.SampledFrom([]string{"pending", "drain", "send", "confirm"}).Draw(rt, "first command")
	p.agent.set(busy)
	defer p.agent.set(nil)
	err := p.command(name)
	if errors.Is(err, queue.ErrCorrupt) && !restarted {
		_, err = p.Repair(p.t.Context(), "s1")
	}
	if err != nil {
		rt.Fatalf("%s: %v", name, err)
	}
}

func (p *plug) command(name string) error {
	switch name {
	case "drain":
		_, err := p.Drain(p.t.Context(), "s1", dispatch.DrainOptions{})
		var pass *dispatch.PassError
		if errors.As(err, &pass) && (errors.Is(err, adapter.ErrBusy) || errors.Is(err, adapter.ErrUnconfirmed)) {
			return nil
		}
		return err
	case "send":
		p.text = "after the cut"
		_, err := p.SendText(p.t.Context(), "s1", dispatch.Message{Text: p.text, NoDrain: true})
		return err
	case "confirm":
		_, err := p.Confirm(p.t.Context(), "s1", "nobody", false)
		if errors.Is(err, dispatch.ErrNoMessage) {
			return nil
		}
		return err
	}
	_, err := p.Pending(p.t.Context(), "s1")
	return err
}

// checkRecorded: what was promised or handed over is in the log once, in order.
func (p *plug) checkRecorded(rt *rapid.T, recorded []string, before int) {
	if !inSequence(recorded, p.order) {
		rt.Fatalf("the log has %v, want each once, in the order of %v", recorded, p.order)
	}
	if p.lossy {
		old := slices.DeleteFunc(slices.Clone(recorded), func(mid string) bool { return slices.Contains(p.order[before:], mid) })
		if !slices.Equal(old, p.order[:len(old)]) {
			rt.Fatalf("the log has %v of %v, want only its end missing", recorded, p.order)
		}
		return
	}
	for _, mid := range slices.Concat(p.now.promised, p.now.got) {
		if !slices.Contains(recorded, mid) {
			rt.Fatalf("the log has %v, want %s too, of %v promised and %v handed over", recorded, mid, p.now.promised, p.now.got)
		}
	}
}

// checkHandedOver: the agent got, in order and once, what was not at an end.
func (p *plug) checkHandedOver(rt *rapid.T, recorded []string, ended map[string]dispatch.Condition) {
	var want []string
	for _, mid := range recorded {
		if ended[mid] == "" {
			want = append(want, mid)
		}
		if c := p.condition("s1", mid); c != dispatch.Delivered && c != ended[mid] {
			rt.Fatalf("message %s: got %s, want it delivered", mid, c)
		}
	}
	if got := p.agent.mids(); !slices.Equal(got, want) {
		rt.Fatalf("the agent got %v, want %v", got, want)
	}
	for _, prompt := range p.agent.got {
		if prompt.Text != p.texts[prompt.MID] {
			rt.Fatalf("the agent got %q as %s, want %q", prompt.Text, prompt.MID, p.texts[prompt.MID])
		}
	}
}

// drainAll makes passes, and lets an unconfirmed message be handed over again, until
// nothing is owed.
func (p *plug) drainAll(rt *rapid.T) {
	var o dispatch.DrainOptions
	for range 2 * (len(p.order) + 1) {
		_, err := p.Drain(p.t.Context(), "s1", o)
		var pass *dispatch.PassError
		switch {
		case err == nil:
			if owed := p.pending("s1"); len(owed) > 0 {
				rt.Fatalf("got %v owed after a pass without an error", owed)
			}
			return
		case !errors.As(err, &pass) || !errors.Is(err, adapter.ErrUnconfirmed):
			rt.Fatal(err)
		}
		o.Redeliver = pass.MID
	}
	rt.Fatal("passes come to no end")
}

// retry repeats each keyed send. It lands once, whether or not it was cut off.
func (p *plug) retry(rt *rapid.T, recorded []string) {
	for _, key := range slices.Sorted(maps.Keys(p.keys)) {
		mid := p.keys[key]
		known := slices.Contains(recorded, mid)
		p.text = "keyed " + key
		a, err := p.SendText(p.t.Context(), "s1", dispatch.Message{Text: p.text, Key: key, NoDrain: true})
		if errors.Is(err, timeline.ErrCorrupt) && !known && !slices.Contains(p.now.promised, mid) {
			continue // half of its line is left: nobody can say whether it was accepted
		}
		if err != nil || a.Replayed != known || known && a.MID != mid {
			rt.Fatalf("key %s: got %+v, %v, want replayed %v of %s", key, a, err, known, mid)
		}
		if !known {
			recorded = append(recorded, a.MID)
		}
	}
	wantEqual(p.t, "log", p.readable(), recorded)
	got := p.agent.mids()
	p.drainAll(rt)
	for _, mid := range p.agent.mids()[len(got):] {
		if slices.Contains(got, mid) {
			rt.Fatalf("a retry handed %s over again", mid)
		}
	}
}

// inSequence reports whether some are in all, in the order of all, each once.
func inSequence(some, all []string) bool {
	for _, mid := range some {
		i := slices.Index(all, mid)
		if i < 0 {
			return false
		}
		all = all[i+1:]
	}
	return true
}
