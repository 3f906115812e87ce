package main

import (
	"context"
	"errors"

	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

// turnFaults reads the turn log of a session, if it has one: its files, and if those
// are whole every event in them.
func turnFaults(ctx context.Context, s *session.Session) (found []fault, err error) {
	log, err := turn.Read(s.Dir(), turn.ReadOptions{Session: s.ID()})
	if err != nil {
		return nil, err
	}
	damaged := false
	for f, err := range log.Verify(ctx) {
		if err != nil {
			return found, err
		}
		damaged = damaged || f.Severity == segment.Damage
		found = append(found, fault{s.ID(), f.Severity.String(), f.Path, &f.Offset, inFile(f.Path, f.Err), inTurns})
	}
	if damaged {
		return found, nil
	}
	from, err := log.Start(ctx)
	if err != nil {
		return found, err
	}
	for _, err := range log.History(ctx, from) {
		var invalid *turn.InvalidError
		switch {
		case errors.As(err, &invalid) && statusOf(err) == statusCorrupt:
			found = append(found, fault{s.ID(), damage, invalid.Path, &invalid.Offset, ownWords("", invalid.Err), inTurns})
		case err != nil:
			return found, err
		}
	}
	return found, nil
}
