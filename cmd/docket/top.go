package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/feed"
	"github.com/docket-go/docket/cmd/docket/internal/screen"
	"github.com/docket-go/docket/cmd/docket/internal/top"
	"github.com/docket-go/docket/timeline/session"
)

func topVerb() verb {
	return verb{
		name: "top", args: "[PATTERN...]", max: -1, run: runTop,
		changes: true,
		short:   "show the sessions live on the terminal, those that need a person first",
		more: "A PATTERN is the id of a session, or one as 'team-*'; without any it is about all.\n" +
			"It needs a terminal: elsewhere use --once or --json, docket ls, or docket pending --all.",
		example: "docket top\ndocket top 'team-*'\ndocket top --once\ndocket top --json | jq 'select(.needs == \"decision\")'",
		flags: []verbFlag{
			{name: "once", takes: nothing, usage: "print the list as it is now and end; --json does so too"},
		},
	}
}

func runTop(ctx context.Context, c *call) error {
	if err := c.checkPatterns(); err != nil {
		return err
	}
	if c.flags.Bool("once") || c.out.json {
		return c.topOnce(ctx)
	}
	if c.env("TERM") == "dumb" || !isTerminal(os.Stdin) || !isTerminal(os.Stdout) {
		return &usageError{c.verb, "there is no terminal to show it on: use docket top --once, docket ls, or docket pending --all"}
	}
	t, err := screen.Open(os.Stdin, os.Stdout, screen.Options{NoColor: c.env("NO_COLOR") != ""})
	if err != nil {
		return err
	}
	return c.topOn(ctx, t)
}

// checkPatterns refuses what can name no session, and an id that does not.
func (c *call) checkPatterns() error {
	for _, pattern := range c.args {
		if _, err := path.Match(pattern, ""); err != nil {
			return &usageError{c.verb, fmt.Sprintf("%q is no pattern: use * for any text, ? for any character, [a-c] for one of some", pattern)}
		}
		if strings.ContainsAny(pattern, `*?[\`) {
			continue
		}
		if err := c.with(c.about(pattern), func(*session.Session) error { return nil }); err != nil {
			return err
		}
		c.about("")
	}
	return nil
}

// feed reads the sessions that the arguments name.
func (c *call) feed() *feed.Feed {
	return feed.New(feed.Options{
		Store: c.store, Match: c.args, Debts: c.debts, Hostless: hostless, AtWork: atWork, Explain: words, Line: oneLine, Lines: plain,
	})
}

// fitting names the patterns of the arguments; empty means that there are none.
func (c *call) fitting() string {
	if len(c.args) == 0 {
		return ""
	}
	return oneLine(alternatives(c.args))
}

// A topRow is one session in JSON.
type topRow struct {
	Session     string  `json:"session"`
	Title       *string `json:"title"`
	Needs       *string `json:"needs"` // decision, answer, review or delivery
	Display     *string `json:"display"`
	Status      *string `json:"status"`
	Proposal    *string `json:"proposal"`
	Owed        *int    `json:"owed"`        // null if that cannot be told
	Unconfirmed *bool   `json:"unconfirmed"` // the oldest is
	Handing     bool    `json:"handing"`     // the oldest is being handed over now
	Oldest      *string `json:"oldest"`      // when the oldest message that is owed was accepted
	LastError   *string `json:"lastError"`
	Last        *string `json:"last"` // the last event
	Why         *string `json:"why"`
	Fault       *string `json:"fault"` // what cannot be read
}

// topOnce prints the list as it is now.
func (c *call) topOnce(ctx context.Context) error {
	ids, err := c.all(ctx)
	if err != nil {
		return err
	}
	f := c.feed()
	var rows []top.Row
	for _, id := range ids {
		if !f.Matches(id) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if row, there := f.Look(ctx, id); there {
			rows = append(rows, row)
		}
	}
	if len(rows) == 0 && len(ids) > 0 {
		c.report.line("", "none of "+count(len(ids), "session")+" fits "+c.fitting()+": see docket ls")
	}
	slices.SortFunc(rows, top.Compare)
	if !c.out.json {
		for _, line := range top.Table(rows, time.Now()) {
			c.out.people("%s\n", line)
		}
	}
	for _, r := range rows {
		if r.Err != nil {
			c.report.complain(r.ID, r.Err)
		}
		if !c.out.json {
			continue
		}
		if err := c.out.object(rowObject(r)); err != nil {
			return err
		}
	}
	return nil
}

func rowObject(r top.Row) topRow {
	o := topRow{
		Session: r.ID, Title: orNull(r.Title), Needs: orNull(r.Need().Word()),
		Status: orNull(r.Status), Proposal: orNull(r.Proposal), Oldest: stamp(r.Since), LastError: orNull(r.Failed),
		Last: stamp(r.Last), Why: orNull(r.Why()), Fault: orNull(r.Bad),
	}
	if r.Status != "" || r.Works {
		o.Display = orNull(r.Word())
	}
	if !r.Uncounted {
		o.Owed, o.Unconfirmed, o.Handing = &r.Owed, &r.Unconfirmed, r.Handing
	}
	return o
}

// topOn shows the list on the terminal, which it gives back. What somebody began there
// is waited for.
func (c *call) topOn(ctx context.Context, t top.Terminal) error {
	soft, leave := context.WithCancel(context.WithoutCancel(ctx))
	hard, insist := context.WithCancel(c.hard)
	defer insist()
	a := newTopActs(c, soft, hard)
	defer func() {
		if err := a.dispatch.Close(); err != nil {
			c.report.line("", "not everything could be given back: "+words("", err))
		}
	}()
	return top.Run(ctx, t, a, top.Options{
		Store: oneLine(c.store.Dir()), Match: c.fitting(),
		Left: func() {
			if ctx.Err() == nil { // a key: the first signal is then the one that insists
				context.AfterFunc(ctx, insist)
			}
			leave()
		},
		Late: func(id, text string, bad bool) {
			c.report.line(id, text)
			if bad {
				c.report.status = max(c.report.status, statusFailed)
			}
		},
	})
}
