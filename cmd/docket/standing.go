package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/none"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/session"
)

// A standing is how an accepted message stands after the pass that followed.
type standing struct {
	state dispatch.Condition
	why   string // it is not delivered; empty where it was not to be
	owed  int    // messages that the session is owed; counted for JSON only, which shows it
}

// standing finds out how the message stands. It is accepted whatever comes of that,
// and whether or not somebody wants to leave, so what fails is only reported.
func (c *call) standing(ctx context.Context, id string, a dispatch.Accepted) standing {
	ctx = context.WithoutCancel(ctx)
	s := standing{state: dispatch.Delivered}
	if c.out.json {
		s.owed = c.owedAfter(ctx, id, a)
	}
	if a.Delivered {
		return s
	}
	now, err := c.dispatch.State(ctx, id, a.MID)
	if err != nil {
		return standing{state: dispatch.Owed, why: "what became of it cannot be told: " + words(id, err), owed: s.owed}
	}
	s.state = now.Condition
	switch {
	case s.state == dispatch.Delivered: // by somebody else's pass
	case s.state == dispatch.Revoked:
		s.why = "it was taken back before: use another key to say it again"
	case now.Handing:
		s.why = "another pass is handing it over now: docket state " + id + " " + a.MID + " tells how that ends"
	case a.Pass != nil:
		s.why = c.passWords(id, a.MID, a.Pass)
	case s.state == dispatch.Unconfirmed: // a replay
		s.why = unconfirmedWords(id, a.MID)
	}
	return s
}

// owedAfter counts what the session is owed after a send.
func (c *call) owedAfter(ctx context.Context, id string, a dispatch.Accepted) int {
	n, err := c.dispatch.Owed(ctx, id)
	if err != nil {
		c.report.line(id, "accepted, but what is owed cannot be counted: "+words(id, err))
		if !a.Delivered {
			return 1
		}
	}
	return n
}

// passWords says why a pass after a send left something owed, and what to do. The
// message mid is not named again.
func (c *call) passWords(id, mid string, err error) string {
	var ended *dispatch.PassError
	isEnd := errors.As(err, &ended)
	switch {
	case errors.Is(err, lock.ErrBusy):
		return "another pass is at work, and takes it or leaves it to the next"
	case calledOff(err) && !(isEnd && ended.Answer == adapter.Unconfirmed):
		return "interrupted before it was handed over: docket drain " + id + " goes on"
	case !isEnd:
		return words(id, err)
	}
	why := reason(id, mid, ended)
	if errors.Is(err, host.ErrNoHost) {
		return why + ", with docket host " + id + " -- CMD"
	}
	if c.hostTakes(id, ended) {
		return why + ": its host hands it over as soon as the agent can take it"
	}
	if ended.Answer == adapter.Unconfirmed || statusOf(err) != statusFailed || c.hasNoAdapter(id) {
		return why // it says what to do
	}
	return why + ": docket drain " + id + " tries again, and docket serve does so by itself"
}

// reason is what the error of a pass says, without the name of the message mid, and
// with what to do where nothing goes on before that is done.
func reason(id, mid string, ended *dispatch.PassError) string {
	why := strings.TrimSuffix(ownWords(id, ended.Err), ": "+ownWords("", dispatch.ErrHeld))
	if ended.Answer == adapter.Refused && calledOff(ended.Err) {
		why = "not handed over: interrupted"
	}
	if ended.MID != mid && ended.MID != "" {
		why = fmt.Sprintf("message %s %s: %s", ended.MID, ended.Answer, why)
	}
	if ended.Answer == adapter.Unconfirmed && ended.MID != "" {
		why += ": " + unconfirmedWords(id, ended.MID)
	}
	return why
}

// unconfirmedWords says what to do about an unconfirmed message.
func unconfirmedWords(id, mid string) string {
	return fmt.Sprintf("see whether the agent has it, then docket confirm %s %s, or docket drain %s --redeliver %s", id, mid, id, mid)
}

// hostTakes reports that the session's host makes the next pass itself: its agent is at
// work, or is being started.
func (c *call) hostTakes(id string, ended *dispatch.PassError) bool {
	if ended.Answer != adapter.Refused || !errors.Is(ended, adapter.ErrBusy) && !errors.Is(ended, adapter.ErrGone) {
		return false
	}
	name, err := c.adapterOf(id)
	return err == nil && hosted(name)
}

// hasNoAdapter reports that the session keeps everything owed.
func (c *call) hasNoAdapter(id string) bool {
	name, err := c.adapterOf(id)
	return err == nil && (name == "" || name == none.Kind.Name)
}

// adapterOf returns the name of the session's adapter.
func (c *call) adapterOf(id string) (name string, err error) {
	err = c.with(id, func(s *session.Session) error {
		r, err := s.Record()
		name = r.Adapter
		return err
	})
	return name, err
}
