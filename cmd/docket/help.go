package main

import (
	"context"

	"github.com/urfave/cli/v2"
)

func helpVerb() verb {
	return verb{
		name: "help", args: "[VERB|TOPIC]", max: 1, run: runHelp,
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
	root := c.flags.Lineage()[1]
	if len(c.args) == 0 {
		return cli.ShowAppHelp(root)
	}
	name := c.args[0]
	for _, t := range topics {
		if t.name == name {
			return c.explain(t)
		}
	}
	if root.App.Command(name) == nil {
		hint := "see docket help"
		words := append(newGrammar(nil, root.App.Commands).shown, topicNames()...)
		if meant := nearest(name, words); meant != "" {
			hint = "did you mean docket help " + meant + "? else " + hint
		}
		return usagef("%q is no verb and no topic: %s", clip(name), hint)
	}
	return cli.ShowCommandHelp(root, name)
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
