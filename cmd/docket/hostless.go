package main

import (
	"context"
	"errors"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/timeline/session"
)

// hosted reports that the messages of sessions with that adapter come to a host.
func hosted(adapter string) bool { return speakers()[adapter] != nil }

// hostless says that nobody serves a session whose messages come to a host, and what to
// do. It is empty where a host listens, where none is needed, and where that cannot be
// told: then what the last pass met is all that is known.
func hostless(ctx context.Context, s *session.Session) string {
	r, err := s.Record()
	if err != nil || !hosted(r.Adapter) {
		return ""
	}
	switch err := host.NewClient(s.Dir()).Reach(ctx); {
	case errors.Is(err, host.ErrDied):
		return "its host was killed: start it again with docket host " + s.ID() + " -- CMD"
	case errors.Is(err, host.ErrNoHost):
		return "no host serves this session: start one with docket host " + s.ID() + " -- CMD"
	}
	return ""
}
