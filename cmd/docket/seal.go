package main

import (
	"context"
	"errors"

	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

func sealVerb() verb {
	return verb{
		name: "seal", args: "[ID|--all]", max: 1, run: runSeal,
		changes: true,
		short:   "compress the segments that are not written any more; nothing else changes",
		example: "docket seal worker-1\ndocket seal --all",
		flags:   []verbFlag{{name: "all", takes: nothing, usage: "every session of the store"}},
	}
}

// sealed is one compressed segment in JSON.
type sealed struct {
	Session     string `json:"session"`
	Segment     uint64 `json:"segment"`
	Path        string `json:"path"`
	PlainBytes  int64  `json:"plainBytes"`
	SealedBytes int64  `json:"sealedBytes"`
}

func runSeal(ctx context.Context, c *call) error {
	return c.each(ctx, func(s *session.Session) error {
		done, err := s.Timeline().Seal(ctx)
		err = errors.Join(err, c.printSealed(s.ID(), "segment", done))
		log, unread := turn.Read(s.Dir(), turn.ReadOptions{Session: s.ID()})
		if unread != nil {
			return errors.Join(err, unread)
		}
		more, failed := log.Seal(ctx)
		err = errors.Join(err, failed, c.printSealed(s.ID(), "turns, segment", more))
		if len(done)+len(more) == 0 && err == nil && !c.out.json {
			c.out.people("%s: nothing to seal\n", s.ID())
		}
		return err
	})
}

func (c *call) printSealed(id, what string, done []segment.Sealed) error {
	for _, d := range done {
		if !c.out.json {
			c.out.people("%s: %s %d: %d bytes in place of %d\n", id, what, d.Segment, d.Bytes, d.PlainBytes)
			continue
		}
		if err := c.out.object(sealed{id, d.Segment, d.Path, d.PlainBytes, d.Bytes}); err != nil {
			return err
		}
	}
	return nil
}

// each opens the chosen sessions one after the other for f. What f returns is
// reported, and the next one follows.
func (c *call) each(ctx context.Context, f func(s *session.Session) error) error {
	ids, err := c.chosen(ctx)
	if err != nil {
		return err
	}
	p := newProgress(c.report.w, c.verb, len(ids))
	defer p.end()
	for i, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.at(i, id)
		if err := c.with(id, f); err != nil {
			p.end()
			c.report.complain(id, err)
		}
	}
	return nil
}
