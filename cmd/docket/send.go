package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

func sendVerb() verb {
	return verb{
		name: "send", args: "ID [TEXT...|-]", min: 1, max: -1, run: runSend,
		changes: true,
		short:   "say something to a session; print the message's id once it is accepted",
		example: "docket send worker-1 'run the tests'\n" +
			"docket send worker-1 -- --this starts with a hyphen\n" +
			"git diff | docket send worker-1 --from lead --key review-7",
		flags: []verbFlag{
			{name: "from", usage: "the session `ID` that says it (else a human does)"},
			{name: "reply-via", usage: "where the answer is read: `note|terminal` (else the adapter decides)"},
			{name: "key", usage: "the same `KEY` and content again is the same message, accepted once"},
			{name: "operation", usage: "`WHAT` the key is for; separates keys of different purposes"},
			{name: "attr", takes: several, usage: "an attribute for the adapter, `NAME=VALUE`; may be repeated"},
			{name: "no-drain", takes: nothing, usage: "leave the delivery to a later pass"},
		},
	}
}

// sent is the answer of send in JSON.
type sent struct {
	Session   string             `json:"session"`
	MID       string             `json:"mid"`
	Replayed  bool               `json:"replayed"`
	Delivered bool               `json:"delivered"`
	Owed      int                `json:"owed"` // entries that the session is owed now
	Cursor    timeline.Cursor    `json:"cursor"`
	State     dispatch.Condition `json:"state"`
	Error     *string            `json:"error"` // why it is not delivered
}

func runSend(ctx context.Context, c *call) error {
	id := c.about(c.args[0])
	m, err := c.message(ctx)
	if err != nil {
		return err
	}
	a, err := c.dispatch.SendText(ctx, id, m)
	if err != nil {
		return err
	}
	c.doubtSender(id)
	s := c.standing(ctx, id, a)
	if s.why != "" {
		c.report.line(id, fmt.Sprintf("accepted and %s: %s", s.state, s.why))
	}
	if err := c.printSent(a, s); err != nil {
		return fmt.Errorf("message %s is accepted: %w", a.MID, err)
	}
	return nil
}

// doubtSender says of a sender that is no session of the store that no answer arrives
// there; it may be one of another store.
func (c *call) doubtSender(id string) {
	from := c.flags.String("from")
	if from == "" {
		return
	}
	if err := c.with(from, func(*session.Session) error { return nil }); errors.Is(err, session.ErrNotFound) {
		c.report.line(id, "no session is called "+from+": an answer to it will not arrive")
	}
}

// printSent answers at once: who asked must learn of the message even if standard
// output cannot be written.
func (c *call) printSent(a dispatch.Accepted, s standing) error {
	if !c.out.json {
		c.out.people("%s\n", a.MID)
		return c.out.flush()
	}
	return errors.Join(c.out.object(sent{
		Session: a.Session, MID: a.MID, Replayed: a.Replayed, Delivered: s.state == dispatch.Delivered,
		Owed: s.owed, Cursor: a.Cursor, State: s.state, Error: orNull(s.why),
	}), c.out.flush())
}

// message is what the flags and the text ask for.
func (c *call) message(ctx context.Context) (dispatch.Message, error) {
	via, err := compose.ParseChannel(c.flags.String("reply-via"))
	if err != nil {
		return dispatch.Message{}, &usageError{c.verb, "--reply-via takes note or terminal: give one of the two"}
	}
	attributes, err := c.pairs("attr")
	if err != nil {
		return dispatch.Message{}, err
	}
	text, err := c.textOf(ctx, 1)
	return dispatch.Message{
		Text: text, From: c.flags.String("from"), ReplyVia: via, Attributes: attributes,
		Key: c.flags.String("key"), Operation: c.flags.String("operation"),
		NoDrain: c.flags.Bool("no-drain"),
	}, err
}
