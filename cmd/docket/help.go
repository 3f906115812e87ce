package main

import (
	"cmp"
	"context"
)

func helpVerb() verb {
	return verb{
		name: "help", args: "[VERB|TOPIC]", max: 1, run: runHelp,
		brief:   true,
		short:   "explain docket, one verb, or one topic",
		more:    "The topics:\n" + topicList(),
		example: "docket help send\ndocket help agents >>AGENTS.md",
	}
}

// explained is the answer of help about a topic in JSON.
type explained struct {
	Topic string `json:"topic"`
	Text  string `json:"text"`
}

func runHelp(_ context.Context, c *call) error {
	if len(c.args) == 0 {
		c.out.write(docketHelp())
		return nil
	}
	name := c.args[0]
	for _, t := range topics {
		if t.name == name {
			return c.explain(t)
		}
	}
	if v, ok := verbNamed(name); ok {
		c.out.write(v.help())
		return nil
	}
	hint := "see docket help"
	if meant := cmp.Or(otherNames()[name], nearest(name, append(shownNames(), topicNames()...))); meant != "" {
		hint = "did you mean docket help " + meant + "? else " + hint
	}
	return usagef("%q is no verb and no topic: %s", clip(name), hint)
}

// explain prints what there is to say about t, as it is: it can be added to a file.
func (c *call) explain(t topic) error {
	text, err := t.text()
	if err != nil {
		return err
	}
	if c.out.json {
		return c.out.object(explained{t.name, text})
	}
	c.out.people("%s", text)
	return nil
}
