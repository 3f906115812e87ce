package main

import (
	"context"

	"github.com/urfave/cli/v2"
)

func helpVerb() verb {
	return verb{
		name: "help", args: "[VERB]", max: 1, short: "explain docket, or one verb",
		example: "docket help send",
		run: func(_ context.Context, c *call) error {
			root := c.flags.Lineage()[1]
			if len(c.args) == 0 {
				return cli.ShowAppHelp(root)
			}
			if root.App.Command(c.args[0]) == nil {
				return usagef("%q is no verb: %ssee docket --help", c.args[0], newGrammar(nil, root.App.Commands).meant(c.args[0]))
			}
			return cli.ShowCommandHelp(root, c.args[0])
		},
	}
}
