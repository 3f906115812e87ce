package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

func declareVerb() verb {
	return verb{
		name: "declare", args: "[ID]", max: 1, surplus: noteHint,
		changes: true,
		short:   "record what the agent says about itself",
		example: "docket declare worker-1 --status awaiting --proposal merge --note 'all tests pass'",
		flags: []verbFlag{
			{name: "status", usage: "one `WORD`, such as active, idle, asking, parked, awaiting, error"},
			{name: "proposal", usage: "with awaiting: what it proposes, one `WORD`, such as merge, nothing, close"},
			noteFlag(),
		},
		run: func(ctx context.Context, c *call) error {
			if !c.flags.IsSet("status") {
				return &usageError{c.verb, "--status is missing: say what to declare, or use a short form such as docket done"}
			}
			return c.declare(ctx, session.Declaration{Status: c.flags.String("status"), Proposal: c.flags.String("proposal")})
		},
	}
}

func noteFlag() verbFlag {
	return verbFlag{name: "note", usage: "the whole reply or explanation as `TEXT`; - reads it from standard input"}
}

// The short forms of declare.

func activeVerb() verb {
	return declaration("active", "the agent works", session.Declaration{Status: session.StatusActive})
}

func idleVerb() verb {
	return declaration("idle", "the agent has nothing to do", session.Declaration{Status: session.StatusIdle})
}

func askVerb() verb {
	return declaration("ask", "the agent waits for an answer to its note", session.Declaration{Status: session.StatusAsking})
}

func parkVerb() verb {
	return declaration("park", "the agent waits for something outside", session.Declaration{Status: session.StatusParked})
}

func doneVerb() verb {
	return declaration("done", "the agent is done and proposes nothing", session.Declaration{Status: session.StatusAwaiting, Proposal: session.ProposalNothing})
}

func reviewVerb() verb {
	return declaration("review", "the agent proposes to take its work over", session.Declaration{Status: session.StatusAwaiting, Proposal: session.ProposalMerge})
}

func errorVerb() verb {
	return declaration("error", "the agent cannot go on", session.Declaration{Status: session.StatusError})
}

func declaration(name, short string, d session.Declaration) verb {
	return verb{
		name: name, args: "[ID]", max: 1, surplus: noteHint, short: "declare: " + short,
		changes: true,
		example: "docket " + name + " --note 'what there is to say'     # for $DOCKET_SESSION",
		flags:   []verbFlag{noteFlag()},
		run:     func(ctx context.Context, c *call) error { return c.declare(ctx, d) },
	}
}

// declared is the answer of declare in JSON.
type declared struct {
	Session  string           `json:"session"`
	Moved    bool             `json:"moved"`
	Status   string           `json:"status"`
	Proposal *string          `json:"proposal"`
	Note     *string          `json:"note"`
	Cursor   *timeline.Cursor `json:"cursor"` // behind the event; null if there is none
}

// noteHint is for who gives the note as an argument.
const noteHint = "put what there is to say behind --note"

// declare records d with the note that the flags give.
func (c *call) declare(ctx context.Context, d session.Declaration) error {
	if len(c.args) == 1 && session.ValidID(c.args[0]) != nil {
		return &usageError{c.verb, fmt.Sprintf("%q names no session: %s", clip(c.args[0]), noteHint)}
	}
	id, err := c.own()
	if err != nil {
		return err
	}
	if d.Note, err = c.note(ctx); err != nil {
		return err
	}
	err = c.with(id, func(s *session.Session) error {
		a, err := s.Declare(ctx, d)
		if err != nil {
			return err
		}
		c.unheard(ctx, s, a)
		return c.answer(id, a)
	})
	if err == nil {
		err = c.thenTell(ctx, id)
	}
	err = c.explained(err)
	if errors.Is(err, session.ErrNotFound) && len(c.args) == 1 {
		err = &advised{words(id, err) + "; or if this was to be the note, " + noteHint, err}
	}
	return err
}

// answer prints what became of a declaration.
func (c *call) answer(id string, a session.Declared) error {
	if !c.out.json {
		c.out.people("%s: %s\n", id, movedWords(a))
		return nil
	}
	answer := declared{id, a.Moved, a.Status, orNull(a.Proposal), orNull(a.Note), nil}
	if a.Moved {
		answer.Cursor = &a.Next
	}
	return c.out.object(answer)
}

// unheard says of an answer to a message that it is none: it is what was declared before
// that message already, so there is no event for those who wait. That an agent still
// works is no answer anyway.
func (c *call) unheard(ctx context.Context, s *session.Session, a session.Declared) {
	if a.Moved || a.Status == session.StatusActive {
		return
	}
	page, err := s.Timeline().Tail(ctx, 1)
	switch {
	case err != nil:
		c.report.line(s.ID(), words(s.ID(), err))
	case len(page.Events) == 1 && page.Events[0].Kind == timeline.KindSent:
		c.report.line(s.ID(), "the same was declared before the newest message, so nobody who waits is told: "+
			"say it in another note, or declare active first")
	}
}

func movedWords(a session.Declared) string {
	word := displayWord(a.Status, a.Proposal)
	if !a.Moved {
		return word + ", as before"
	}
	return word
}
