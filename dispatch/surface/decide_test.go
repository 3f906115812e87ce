package surface_test

import (
	"errors"
	"testing"
)

// Somebody has to decide about a message once it is not known whether it arrived, and
// not while it is being handed over.
func TestWhatIsToBeDecided(t *testing.T) {
	p := newPlace(t)
	mid := p.send("run the tests", "").MID
	p.send("and then?", "")
	p.decided(mid, "before", "owed", 0, false)
	p.agent.during = func() { p.decided(mid, "in the hand-over", "owed", 0, true) }
	p.drain(errors.New("the line went dead"))
	p.agent.during = nil
	p.decided(mid, "after it", "unconfirmed", 1, false)
	if _, err := p.dispatch.Confirm(t.Context(), "s1", mid, true); err != nil {
		t.Fatal(err)
	}
	p.decided(mid, "decided", "owed", 0, false)
}

// decided checks where the oldest message is, and about how many somebody has to decide.
func (p *place) decided(mid, when, state string, unconfirmed int, handing bool) {
	p.t.Helper()
	if got := p.ask("GET", "s1", ""); got.Owed != 2 || got.Unconfirmed == nil || *got.Unconfirmed != unconfirmed {
		p.t.Errorf("%s: got %s, want %d unconfirmed of 2", when, got.text, unconfirmed)
	}
	if got := p.ask("GET", "s1/states?mid="+mid, "").States[mid]; got.State != state || got.Handing != handing {
		p.t.Errorf("%s: got %+v, want %s, handing %v", when, got, state, handing)
	}
	if got := p.ask("GET", "s1/pending", "").Pending[0]; got.State != state || got.Handing != handing {
		p.t.Errorf("%s: got %+v pending, want %s, handing %v", when, got, state, handing)
	}
}
