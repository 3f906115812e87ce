package main

import (
	"context"
	"errors"

	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
)

// positionFaults reads how far the session has come as a reader.
func positionFaults(_ context.Context, s *session.Session) ([]fault, error) {
	err := fleet.CheckPosition(s)
	var bad *fleet.PositionError
	if errors.As(err, &bad) {
		return []fault{{Session: s.ID(), Severity: damage, Path: bad.Path, Error: ownWords("", bad.Err), part: inPosition}}, nil
	}
	return nil, err
}
