package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
)

func verifyVerb() verb {
	return verb{
		name: "verify", args: "[ID|--all]", max: 1, run: runVerify,
		short:   "read everything that is stored and name each fault; nothing changes",
		example: "docket verify worker-1\ndocket verify --all --json",
		flags:   []cli.Flag{&cli.BoolFlag{Name: "all", DisableDefaultText: true, Usage: "every session of the store"}},
	}
}

// fault is one fault in JSON.
type fault struct {
	Session  string `json:"session"`
	Severity string `json:"severity"` // "note": the next writer repairs it, or it costs nothing; "damage"
	Path     string `json:"path"`
	Offset   *int64 `json:"offset"` // bytes from the start of the uncompressed file; null where none is meant
	Error    string `json:"error"`
}

const (
	note   = "note"
	damage = "damage"
)

func runVerify(ctx context.Context, c *call) error {
	return c.each(ctx, func(s *session.Session) error {
		found, err := faultsOf(ctx, s)
		for _, f := range found {
			if c.out.json {
				err = errors.Join(err, c.out.object(f))
				continue
			}
			c.out.people("%s\n", oneLine(f.line()))
		}
		switch {
		case slices.ContainsFunc(found, func(f fault) bool { return f.Severity == damage }):
			return errors.Join(errFaults, err)
		case err == nil && len(found) == 0 && !c.out.json:
			c.out.people("%s: no fault\n", s.ID())
		}
		return err
	})
}

func (f fault) line() string {
	at := f.Path
	if f.Offset != nil {
		at += fmt.Sprintf(" at byte %d", *f.Offset)
	}
	return fmt.Sprintf("%s: %s: %s: %s", f.Session, f.Severity, at, f.Error)
}

// faultsOf reads the record, the log and the queue of a session.
func faultsOf(ctx context.Context, s *session.Session) (found []fault, err error) {
	var bad *session.RecordError
	if _, err := s.Record(); errors.As(err, &bad) {
		found = append(found, fault{Session: s.ID(), Severity: damage, Path: bad.Path, Error: bad.Err.Error()})
	} else if err != nil {
		return nil, err
	}
	inLog, err := s.Timeline().Verify(ctx)
	for _, f := range inLog {
		severity := damage
		if f.Severity == segment.Note {
			severity = note
		}
		found = append(found, fault{s.ID(), severity, f.Path, &f.Offset, f.Err.Error()})
	}
	if err != nil {
		return found, err
	}
	inQueue, err := queueFaults(ctx, s)
	return append(found, inQueue...), err
}

// queueFaults compares the queue with what the log proves, under the record lock
// where there is one to be had, so that nothing moves meanwhile.
func queueFaults(ctx context.Context, s *session.Session) (found []fault, err error) {
	q, err := queue.Open(s.Dir(), queue.Options{Locks: s.Locks()})
	if err != nil {
		return nil, err
	}
	defer q.Close()
	held, err := s.Locks().Record(ctx)
	switch {
	case errors.Is(err, lock.ErrReadOnly), errors.Is(err, lock.ErrUnsupported):
	case err != nil:
		return nil, err
	default:
		defer held.Release()
		if held.Interrupted() {
			return nil, nil // the next change completes what was interrupted
		}
	}
	in, err := q.Inspect()
	if err != nil {
		return nil, err
	}
	for _, f := range in.Faults {
		severity := note
		if f.Kind == queue.Damaged {
			severity = damage
		}
		found = append(found, fault{s.ID(), severity, in.Path, &f.Offset, fmt.Sprintf("%v: %v", f.Kind, f.Err)})
	}
	debts, err := s.Timeline().Owed(ctx)
	if err != nil {
		return found, err
	}
	queued := map[string]bool{}
	for _, e := range in.Entries {
		queued[e.MID] = true
	}
	for _, d := range debts {
		if !queued[d.Sent.MID] {
			found = append(found, fault{Session: s.ID(), Severity: damage, Path: in.Path, Error: "message " + d.Sent.MID + " is owed and not in the queue"})
		}
	}
	return found, nil
}
