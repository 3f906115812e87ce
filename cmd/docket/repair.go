package main

import (
	"context"
	"strings"
)

func repairVerb() verb {
	return verb{
		name: "repair", args: "ID", min: 1, max: 1, run: runRepair,
		short:   "make the queue say what the timeline proves; a damaged queue file is copied aside first",
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
	Dropped  []string `json:"dropped"`
}

func runRepair(ctx context.Context, c *call) error {
	id := c.about(c.args[0])
	r, err := c.dispatch.Repair(ctx, id)
	if err != nil {
		return err
	}
	answer := repaired{
		Session: id, Aside: orNull(r.Aside),
		Kept: append([]string{}, r.Kept...), Restored: append([]string{}, r.Restored...), Dropped: append([]string{}, r.Dropped...),
	}
	if r.Fault != nil {
		answer.Fault = orNull(ownWords(id, r.Fault))
	}
	if c.out.json {
		return c.out.object(answer)
	}
	for _, said := range answer.lines() {
		c.out.people("%s: %s\n", id, oneLine(said))
	}
	return nil
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
	}{{"kept", r.Kept}, {"restored", r.Restored}, {"dropped, as it is at an end", r.Dropped}} {
		if len(what.mids) > 0 {
			lines = append(lines, what.did+": "+strings.Join(what.mids, " "))
		}
	}
	if len(lines) == 0 {
		lines = append(lines, "nothing is owed and nothing was wrong")
	}
	return lines
}
