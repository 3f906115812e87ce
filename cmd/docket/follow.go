package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/docket-go/docket/timeline"
)

func followVerb() verb {
	return verb{
		name: "follow", args: "ID...", min: 1, max: -1, run: runFollow,
		short:   "print events as they commit, until interrupted",
		example: "docket follow worker-1 worker-2 --tail\ndocket follow worker-1 --json --after CURSOR",
		flags: []cli.Flag{
			afterFlag(),
			&cli.BoolFlag{Name: "from-start", DisableDefaultText: true, Usage: "begin with the first event; the default"},
			&cli.BoolFlag{Name: "tail", DisableDefaultText: true, Usage: "only what commits from now on"},
		},
	}
}

func afterFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "after", Usage: "begin behind the `CURSOR`, which an earlier answer gave; may be repeated, one for a session"}
}

// caughtUp is the mark that everything before it was history.
type caughtUp struct {
	Kind string `json:"kind"`
}

func runFollow(ctx context.Context, c *call) error {
	given := 0
	for _, name := range []string{"after", "from-start", "tail"} {
		if c.flags.IsSet(name) {
			given++
		}
	}
	if given > 1 {
		return &usageError{c.verb, "--after, --from-start and --tail exclude each other: give one of them"}
	}
	mode := timeline.FromStart
	if c.flags.Bool("tail") {
		mode = timeline.TailOnly
	}
	w, err := c.watch(fromThe(mode))
	if err != nil {
		return err
	}
	err = w.run(ctx,
		func(id string, u timeline.Update) (bool, error) {
			return false, errors.Join(c.event(id, u), c.out.flush())
		},
		func() error {
			if !c.out.json {
				return nil
			}
			return errors.Join(c.out.object(caughtUp{"caught-up"}), c.out.flush())
		})
	if errors.Is(err, context.Canceled) {
		return nil // that is how it ends
	}
	return err
}
