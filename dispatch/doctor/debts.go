package doctor

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/none"
	"github.com/docket-go/docket/dispatch/debts"
)

// oldestNamed is how many debts are named.
const oldestNamed = 5

// debts says what is owed, and what to do about the oldest.
func (e *examination) debts() {
	s := e.tally.survey
	if e.absent {
		return
	}
	unknown := e.unknownDebts()
	if s.Owed == 0 {
		if unknown != "" {
			e.note("owed", "", "not known: %s", unknown)
			return
		}
		e.ok("owed", "nothing")
		return
	}
	text := count(s.Owed, "message") + " to " + count(s.Owing, "session")
	if e.tally.atWork > 0 {
		text += ", of which " + count(e.tally.atWork, "message") + " being handed over now"
	}
	if unknown != "" {
		e.note("owed", "", "%s, as far as is known: %s", text, unknown)
	} else {
		e.ok("owed", "%s", text)
	}
	for _, d := range s.Oldest {
		if !d.Unconfirmed && !d.Handing { // the first have a finding of their own
			e.oldest(d)
		}
	}
}

// unknownDebts says why what is owed is not known as a whole; empty means that it is.
func (e *examination) unknownDebts() string {
	switch n := e.tally.survey.Unreadable; {
	case e.tally.unlisted:
		return "the sessions cannot be listed"
	case n > 0:
		return "what is owed to " + count(n, "session") + " cannot be read"
	}
	return ""
}

// oldest says why one session's oldest message is still owed.
func (e *examination) oldest(d debts.Debt) {
	since := d.Age(e.Now())
	f := Finding{Check: "owed", Level: Note, Session: d.Session, MID: d.MID, Do: "docket drain " + d.Session}
	f.Text = "owed for " + age(since)
	if d.Owed > 1 {
		f.Text += fmt.Sprintf(", and %d behind it", d.Owed-1)
	}
	switch who := e.tally.adapters[d.Session]; {
	case who.unread:
		f.Text += ": its record cannot be read"
		f.Do = "docket verify " + d.Session
	case who.adapter == "" || who.adapter == none.Kind.Name:
		f.Text += ": the session has no adapter, so that its messages stay owed"
		f.Do = "docket pending " + d.Session
	case errors.Is(who.host, host.ErrNoHost):
		f.Level = Problem
		f.Text += ": the session has no host"
		f.Do = hostCommand(d.Session, who.adapter)
	case d.Attempts == 0:
		f.Text += ": nobody has tried to deliver it yet"
	default:
		f.Text += ": " + count(d.Attempts, "attempt") + ", and the last ended with: " + d.LastError
		if since >= e.Patience {
			f.Level = Problem
			f.Do += ", or docket set " + d.Session + " --set NAME=VALUE if its settings are wrong"
		}
	}
	e.say(f)
}
