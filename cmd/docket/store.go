package main

import (
	"context"
	"maps"
	"slices"

	"github.com/docket-go/docket/timeline/session"
)

// The verbs about whole sessions.

func showVerb() verb {
	return verb{
		name: "show", args: "ID", min: 1, max: 1, short: "print the record of a session",
		brief:   true,
		example: "docket show worker-1",
		run: func(ctx context.Context, c *call) error {
			return c.with(c.about(c.args[0]), func(s *session.Session) error { return c.show(ctx, s) })
		},
	}
}

func archiveVerb() verb {
	return verb{
		name: "archive", args: "ID", min: 1, max: 1, short: "mark a session as history; it keeps everything, its host too, and still receives",
		changes: true,
		example: "docket archive worker-1",
		run: func(ctx context.Context, c *call) error {
			return c.with(c.about(c.args[0]), func(s *session.Session) error {
				if err := s.Archive(ctx); err != nil {
					return err
				}
				return c.show(ctx, s)
			})
		},
	}
}

func retireVerb() verb {
	return verb{
		name: "retire", args: "ID", min: 1, max: 1, short: "mark a session whose work tree is gone: it declares nothing any more, and still receives",
		changes: true,
		example: "docket retire worker-1",
		run: func(ctx context.Context, c *call) error {
			return c.with(c.about(c.args[0]), func(s *session.Session) error {
				if err := s.Retire(ctx); err != nil {
					return err
				}
				return c.show(ctx, s)
			})
		},
	}
}

// show prints the record as it is now.
func (c *call) show(ctx context.Context, s *session.Session) error {
	r, err := s.Record()
	if err != nil {
		return err
	}
	now := snapshotOf(ctx, s, r)
	if c.out.json {
		return c.printRecord(now)
	}
	c.out.people("%s\n", s.ID())
	for _, row := range now.rows() {
		if row[1] != "" {
			c.out.people("  %-9s %s\n", row[0], oneLine(row[1]))
		}
	}
	if note := r.Authored().Note; note != "" {
		c.out.people("%s\n", indent(note, "    "))
	}
	return nil
}

func (s snapshot) rows() [][2]string {
	r, said := s.record, s.record.Authored()
	rows := [][2]string{
		{"title", r.Title}, {"parent", r.Parent}, {"declared", displayWord(said.Status, said.Proposal)}, {"adapter", r.Adapter},
	}
	if s.works {
		rows = append(rows, [2]string{"agent", s.word()})
	}
	for _, name := range slices.Sorted(maps.Keys(r.Settings)) {
		rows = append(rows, [2]string{"", name + "=" + r.Settings[name]})
	}
	if !r.CreatedAt.IsZero() {
		rows = append(rows, [2]string{"created", when(r.CreatedAt)})
	}
	if is := conditions(r); is != "" {
		rows = append(rows, [2]string{"is", is})
	}
	return rows
}
