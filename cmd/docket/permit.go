package main

import (
	"context"
	"strings"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/timeline/session"
)

func permitVerb() verb {
	return verb{
		name: "permit", args: "ID [PERMISSION OPTION...]", min: 1, max: -1, run: runPermit,
		changes: true,
		short:   "show what the agent behind a host asks permission for, or answer with one of the options",
		more: "With ID alone it shows each request with all that the agent says of it, such as the whole\n" +
			"command, which is stored nowhere: docket turns ID and the note of a session that is asking\n" +
			"have its name and its options only. The option's words may be one argument.",
		example: "docket permit worker-1\ndocket permit worker-1 93a1c07f5be2d418 allow once\ndocket permit worker-1 93a1c07f5be2d418 'reject once'",
	}
}

// permitted is the answer of permit in JSON.
type permitted struct {
	Session    string `json:"session"`
	Permission string `json:"permission"`
	Option     string `json:"option"`
}

// asked is a request for permission in JSON.
type asked struct {
	Session    string   `json:"session"`
	Permission string   `json:"permission"`
	Title      string   `json:"title"`
	Options    []string `json:"options"`
	Details    *string  `json:"details"` // null where the agent's program cannot tell
}

func runPermit(ctx context.Context, c *call) error {
	id := c.about(c.args[0])
	switch len(c.args) {
	case 1:
		return c.with(id, func(s *session.Session) error { return c.showAsked(ctx, s) })
	case 2:
		return &usageError{c.verb, "a permission without an option: docket permit " + id + " shows which there are"}
	}
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

// showAsked prints what the agent waits for.
func (c *call) showAsked(ctx context.Context, s *session.Session) error {
	list, err := host.NewClient(s.Dir()).Asks(ctx)
	if err != nil {
		return err
	}
	for _, w := range list {
		if c.out.json {
			if err := c.out.object(asked{s.ID(), w.ID, w.Title, w.Options, orNull(w.Details)}); err != nil {
				return err
			}
			continue
		}
		c.out.people("%s\n", oneLine(w.ID+"  "+w.Title+" ("+strings.Join(w.Options, ", ")+")"))
		if w.Details != "" {
			c.out.people("%s\n", indent(w.Details, "    "))
		}
	}
	return nil
}
