package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/session"
)

func repairVerb() verb {
	return verb{
		name: "repair", args: "ID", min: 1, max: 1, run: runRepair,
		changes: true,
		short:   "make the queue say what the timeline proves; a damaged queue file is copied aside first",
		more:    fmt.Sprintf("It prints at most %d messages of a kind, and as many faults that are left; --json\nprints all.", shownFaults),
		example: "docket repair worker-1",
	}
}

// repaired is the answer of repair in JSON.
type repaired struct {
	Session  string   `json:"session"`
	Fault    *string  `json:"fault"`
	Aside    *string  `json:"aside"`
	Kept     []string `json:"kept"`
	Restored []string `json:"restored"`
	Doubtful []string `json:"doubtful"` // those of Restored that may have been delivered
	Dropped  []string `json:"dropped"`

	Unrecorded []unrecorded `json:"unrecorded"` // those of Dropped that the timeline does not hold

	Doubled []string `json:"doubled"` // what was there more than once
	Moved   bool     `json:"moved"`   // the order was another one

	Left []fault `json:"left"` // damage that it cannot mend
}

// An unrecorded message is one that only the queue held: what was to be handed over is
// printed, as nothing has it any more.
type unrecorded struct {
	MID  string  `json:"mid"`
	From *string `json:"from"`
	Text string  `json:"text"`

	from string
}

func runRepair(ctx context.Context, c *call) error {
	id := c.about(c.args[0])
	r, err := c.dispatch.Repair(ctx, id)
	if err != nil {
		return err
	}
	answer := repaired{
		Session: id, Aside: orNull(r.Aside),
		Kept: append([]string{}, r.Kept...), Restored: append([]string{}, r.Restored...),
		Doubtful: append([]string{}, r.Doubtful...), Dropped: append([]string{}, r.Dropped...),
		Doubled: append([]string{}, r.Doubled...), Moved: r.Moved, Unrecorded: []unrecorded{},
	}
	for _, e := range r.Unrecorded {
		answer.Unrecorded = append(answer.Unrecorded, unrecorded{e.MID, orNull(e.From), e.Text, e.From})
	}
	if r.Fault != nil {
		answer.Fault = orNull(faultWords(id, r.Fault))
	}
	if answer.Left, err = c.damageLeft(ctx, id); err != nil {
		c.report.complain(id, err)
	}
	if c.out.json {
		if err := c.out.object(answer); err != nil {
			return err
		}
	} else {
		for _, said := range answer.lines() {
			c.out.people("%s: %s\n", id, oneLine(said))
		}
		for _, e := range answer.Unrecorded {
			c.out.people("%s\n%s\n", oneLine(id+": dropped, as the timeline does not hold it: "+e.MID+" from "+sender(e.from)+": send it again"), spoken(e.Text))
		}
		if err := c.printFaults(answer.Left); err != nil {
			return err
		}
	}
	return damageOf(id, "not everything is mended", answer.Left)
}

// faultWords says what was wrong, without the advice to repair it.
func faultWords(id string, err error) string {
	if bad := (*queue.CorruptError)(nil); errors.As(err, &bad) {
		return fmt.Sprintf("%s from byte %d on: %s", bad.Path, bad.Offset, ownWords(id, bad.Err))
	}
	return ownWords(id, err)
}

// damageLeft returns the damage that there is after a repair.
func (c *call) damageLeft(ctx context.Context, id string) ([]fault, error) {
	left := []fault{}
	err := c.with(id, func(s *session.Session) error {
		found, err := c.faultsOf(ctx, s)
		left = append(left, slices.DeleteFunc(found, func(f fault) bool { return f.Severity != damage })...)
		if statusOf(err) == statusCorrupt && len(left) > 0 {
			return nil // it is about the same damage
		}
		return err
	})
	return left, err
}

// someOf lists mids, but not more than people read.
func someOf(mids []string) string {
	more := len(mids) - shownFaults
	if more <= 0 {
		return strings.Join(mids, " ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(mids[:shownFaults], " "), more)
}

// ended are the mids of Dropped that the timeline holds.
func (r repaired) ended() []string {
	return slices.DeleteFunc(slices.Clone(r.Dropped), func(mid string) bool {
		return slices.ContainsFunc(r.Unrecorded, func(e unrecorded) bool { return e.MID == mid })
	})
}

// lines says for people what was done.
func (r repaired) lines() []string {
	var lines []string
	if r.Fault != nil {
		lines = append(lines, "fault: "+*r.Fault)
	}
	if r.Aside != nil {
		lines = append(lines, "the damaged file is kept as "+*r.Aside)
	}
	for _, what := range []struct {
		did  string
		mids []string
	}{
		{"kept", r.Kept}, {"restored", r.Restored}, {"of these unconfirmed, as they may have been delivered", r.Doubtful},
		{"dropped, as it is at an end", r.ended()}, {"kept once of what was there more often", r.Doubled},
	} {
		if len(what.mids) > 0 {
			lines = append(lines, what.did+": "+someOf(what.mids))
		}
	}
	if r.Moved {
		lines = append(lines, "put in the order in which they were sent")
	}
	if len(lines) == 0 && len(r.Left) == 0 {
		lines = append(lines, "nothing is owed and nothing was wrong")
	}
	return lines
}
