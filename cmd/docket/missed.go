package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/dispatch/debts"
	"github.com/docket-go/docket/timeline/session"
)

// missed says what did not come in time. If a session is still owed something that is
// said first, as no agent answers what it does not have.
func (f *followers) missed(ctx context.Context, awaited []string) string {
	late := fmt.Sprintf("no %s of %s in time: ", alternatives(awaited), alternatives(f.names))
	first, others := f.owing(ctx)
	switch {
	case first.Owed > 0:
		return late + owingWords(first, others) + ", or allow more with --timeout"
	case f.patterns:
		return late + "allow more with --timeout, or see docket ls"
	}
	return late + "allow more with --timeout, or see docket log " + f.names[0]
}

// owing returns what the first of the sessions that is owed something is owed, and how
// many others are. What cannot be read is reported.
func (f *followers) owing(ctx context.Context) (first debts.Debt, others int) {
	ids, err := f.present(ctx)
	if err != nil {
		f.call.report.line(f.call.report.subject, words(f.call.report.subject, err))
	}
	for _, id := range ids {
		var debt debts.Debt
		err := f.call.with(id, func(s *session.Session) (err error) {
			debt, err = debts.Of(id, s.Dir())
			return err
		})
		switch {
		case err != nil && !errors.Is(err, session.ErrNotFound): // closed since
			f.call.report.line(id, words(id, err))
		case debt.Owed > 0 && first.Owed == 0:
			first = debt
		case debt.Owed > 0:
			others++
		}
	}
	return first, others
}

// owingWords says who is still owed what, why, and where to see more.
func owingWords(d debts.Debt, others int) string {
	text, see := d.Session+" is still owed "+count(d.Owed, "message"), "docket pending "+d.Session
	if others > 0 {
		text, see = d.Session+" and "+count(others, "other")+" are still owed messages", "docket pending --all"
	}
	switch {
	case d.Unconfirmed:
		text += ", the oldest of which is unconfirmed"
	case d.Handing:
		text += ", the oldest of which is being handed over now"
	}
	if d.LastError != "" && !d.Handing {
		text += ": " + d.LastError
	}
	return text + ": see " + see
}
