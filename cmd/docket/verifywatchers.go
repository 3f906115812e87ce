package main

import (
	"context"
	"errors"

	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/timeline/session"
)

// watcherFaults reads the list of those who watch the session.
func (c *call) watcherFaults(_ context.Context, s *session.Session) ([]fault, error) {
	_, err := c.watches.List(s.ID())
	if bad := (*watching.CorruptError)(nil); errors.As(err, &bad) {
		return []fault{{Session: s.ID(), Severity: damage, Path: bad.Path, Error: ownWords("", bad.Err), part: inWatchers}}, nil
	}
	return nil, err
}
