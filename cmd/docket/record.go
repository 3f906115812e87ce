package main

import (
	"context"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

// A snapshot is how a session is now: what its record says, and what the turn log
// knows of an agent that never declared anything.
type snapshot struct {
	id     string
	record session.Record
	works  bool // it declared nothing, and is at work
}

func snapshotOf(ctx context.Context, s *session.Session, r session.Record) snapshot {
	return snapshot{s.ID(), r, r.Authored().Status == "" && atWork(ctx, s, r)}
}

// atWork reports whether the agent behind the host of a session has a turn open. It is
// false where no host listens, and where that cannot be told.
func atWork(ctx context.Context, s *session.Session, r session.Record) bool {
	if !hosted(r.Adapter) {
		return false
	}
	log, err := turn.Read(s.Dir(), turn.ReadOptions{Session: s.ID()})
	if err != nil {
		return false
	}
	last, found, err := log.Latest(ctx)
	if _, over := last.Payload.(turn.Finished); err != nil || !found || over {
		return false
	}
	return host.NewClient(s.Dir()).Reach(ctx) == nil
}

// word is the display word of the session.
func (s snapshot) word() string {
	if s.works {
		return displayWord(session.StatusActive, "")
	}
	said := s.record.Authored()
	return displayWord(said.Status, said.Proposal)
}

// json is the record as stored, and behind it what the other verbs call the same.
func (s snapshot) json() ([]byte, error) {
	names := struct {
		Session string  `json:"session"`
		Adapter *string `json:"adapter"`
		Display *string `json:"display"`
	}{s.id, orNull(s.record.Adapter), nil}
	if word := s.word(); word != noWord {
		names.Display = &word
	}
	line, err := encode(s.record)
	if err != nil {
		return nil, err
	}
	added, err := encode(names)
	if err != nil {
		return nil, err
	}
	if line = line[:len(line)-1]; len(line) > 1 {
		line = append(line, ',')
	}
	return append(line, added[1:]...), nil
}

// printRecord prints the record in JSON.
func (c *call) printRecord(s snapshot) error {
	line, err := s.json()
	if err == nil {
		c.out.line(line)
	}
	return err
}
