package main

import (
	"context"
	"strings"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/timeline/session"
)

func permitVerb() verb {
	return verb{
		name: "permit", args: "ID PERMISSION OPTION...", min: 3, max: -1, run: runPermit,
		changes: true,
		short:   "answer what the agent behind a host asks permission for, with one of its options",
		more:    "docket turns ID shows what is asked, under which name and with which options, and so\ndoes the note of a session that is asking. The option's words may be one argument.",
		example: "docket permit worker-1 93a1c07f5be2d418 allow once\ndocket permit worker-1 93a1c07f5be2d418 'reject once'",
	}
}

// permitted is the answer of permit in JSON.
type permitted struct {
	Session    string `json:"session"`
	Permission string `json:"permission"`
	Option     string `json:"option"`
}

func runPermit(ctx context.Context, c *call) error {
	id := c.about(c.args[0])
	answer := permitted{id, c.args[1], strings.Join(c.args[2:], " ")}
	return c.with(id, func(s *session.Session) error {
		if err := host.NewClient(s.Dir()).Decide(ctx, answer.Permission, answer.Option); err != nil {
			return err
		}
		if c.out.json {
			return c.out.object(answer)
		}
		c.out.people("%s: %s\n", answer.Permission, oneLine(answer.Option))
		return nil
	})
}
