package top

import (
	"cmp"
	"strings"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A Row is one session as the list shows it. Its texts are of one line each.
type Row struct {
	ID               string
	Title            string
	Status, Proposal string // as declared; empty if nothing was
	Marks            string // archived, retired, launching
	Set              bool   // it is archived or retired: nobody waits for it
	Works            bool   // its agent has a turn open, although nothing was declared

	Owed        int       // messages
	Unconfirmed bool      // somebody has to decide about the oldest of them
	Handing     bool      // the oldest is being handed over now
	Since       time.Time // when the oldest of them was accepted; zero if nobody knows
	Failed      string    // why the last attempt at the oldest did not deliver it

	Last time.Time // when the last event was; zero if there was none
	Said string    // the note that belongs to the status
	Bad  string    // what of the session cannot be read, and what to do
	Err  error     // the same, for a program

	Uncounted bool // what it is owed cannot be read
}

// A Need is how much a session needs a person.
type Need int

// The needs, the most urgent first.
const (
	Decide  Need = iota // a message is unconfirmed, or something cannot be read
	Answer              // it asks, or cannot go on
	Review              // it proposes something
	Deliver             // it is owed something
	Work                // it works, or is being handed what it is owed
	Rest                // it is idle, done, parked, or has said nothing
	History             // it is archived or retired
)

// Need returns what a session needs.
func (r Row) Need() Need {
	word := r.Word()
	switch {
	case r.Bad != "" || r.Unconfirmed:
		return Decide
	case r.Set && r.Owed == 0:
		return History
	case r.Set && r.Handing:
		return Work
	case r.Set:
		return Deliver
	case word == session.StatusAsking, word == session.StatusError:
		return Answer
	case r.Status == session.StatusAwaiting && r.Proposal != session.ProposalNothing:
		return Review
	case r.Owed > 0 && !r.Handing:
		return Deliver
	case r.Handing, r.Works, r.Status == session.StatusActive:
		return Work
	}
	return Rest
}

// Person reports whether a person is needed.
func (n Need) Person() bool { return n <= Review }

// Word names what is needed: decision, answer, review or delivery; nothing else has a
// word.
func (n Need) Word() string {
	return [...]string{Decide: "decision", Answer: "answer", Review: "review", Deliver: "delivery", History: ""}[n]
}

// Sign is what stands in front of a session with that need, so that it is not the colour
// alone that says it.
func (n Need) Sign() string {
	switch n {
	case Decide:
		return "!"
	case Answer, Review:
		return "?"
	case Deliver:
		return ">"
	}
	return " "
}

// Word returns the display word of the session.
func (r Row) Word() string {
	switch {
	case r.Works:
		return timeline.DisplayWord(session.StatusActive, "")
	case r.Status == "":
		return "-"
	}
	return timeline.DisplayWord(r.Status, r.Proposal)
}

// Why says in a line why the session stands where it does.
func (r Row) Why() string {
	var parts []string
	add := func(label, text string) {
		if text != "" {
			parts = append(parts, label+text)
		}
	}
	add("fault: ", r.Bad)
	if r.Unconfirmed {
		add("unconfirmed: ", cmp.Or(r.Failed, "nobody knows whether it arrived"))
	} else if r.Handing {
		add("", "being handed over now")
	} else if r.Owed > 0 {
		add("", r.Failed)
	}
	if n := r.Need(); n == Answer || n == Review || len(parts) == 0 {
		add("", r.Said)
	}
	add("", r.Marks)
	return strings.Join(parts, "; ")
}

// since is from when on the session waits: for the delivery of its oldest message, or
// since it last spoke.
func (r Row) since() time.Time {
	switch n := r.Need(); {
	case n == Deliver, n == Decide && r.Owed > 0:
		return r.Since
	}
	return r.Last
}

// Compare orders rows: the most urgent first; of those that need something the one that
// waits longest, of the others the one that last did something.
func Compare(a, b Row) int {
	n := a.Need()
	order := cmp.Compare(n, b.Need())
	if order == 0 && n <= Deliver {
		order = a.since().Compare(b.since())
	} else if order == 0 {
		order = b.since().Compare(a.since())
	}
	return cmp.Or(order, strings.Compare(a.ID, b.ID))
}

// matches reports whether the row is one that a filter in lower case keeps.
func (r Row) matches(filter string) bool {
	for _, text := range []string{r.ID, r.Word(), r.Title, r.Why(), r.Said} {
		if strings.Contains(strings.ToLower(text), filter) {
			return true
		}
	}
	return filter == ""
}
