package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
)

func verifyVerb() verb {
	return verb{
		name: "verify", args: "[ID|--all]", max: 1, run: runVerify,
		short:   "read everything that is stored and name each fault; nothing changes",
		more:    fmt.Sprintf("It prints at most %d faults of a session, and none that may follow from one before;\n--verbose or --json prints all.", shownFaults),
		example: "docket verify worker-1\ndocket verify --all --json",
		flags:   []verbFlag{{name: "all", takes: nothing, usage: "every session of the store"}},
	}
}

// fault is one fault in JSON.
type fault struct {
	Session  string `json:"session"`
	Severity string `json:"severity"` // "note": the next writer repairs it, or it costs nothing; "damage"
	Path     string `json:"path"`
	Offset   *int64 `json:"offset"` // bytes from the start of the uncompressed file; null where none is meant
	Error    string `json:"error"`

	part part
}

// A part is one of the things that are stored of a session.
type part int

const (
	inRecord part = iota
	inTimeline
	inTurns
	inWatchers
	inQueue
	inQueueOnly // a message that the timeline does not hold
	inPosition  // of the session as a reader
)

// isLog reports whether the part is files of lines, of which each has its own faults.
func (p part) isLog() bool { return p == inTimeline || p == inTurns }

// The severities, in the words of package segment.
var note, damage = segment.Note.String(), segment.Damage.String()

func runVerify(ctx context.Context, c *call) error {
	return c.each(ctx, func(s *session.Session) error {
		found, err := c.faultsOf(ctx, s)
		if err := c.printFaults(found); err != nil {
			return err
		}
		if damaged := damageOf(s.ID(), "damage found, as listed on standard output", found); damaged != nil {
			if err != nil && statusOf(err) != statusCorrupt {
				c.report.complain(s.ID(), err)
			}
			return damaged
		}
		if err == nil && len(found) == 0 && !c.out.json {
			c.out.people("%s: no fault\n", s.ID())
		}
		return err
	})
}

// shownFaults is how many faults of a session people are shown.
const shownFaults = 100

// printFaults prints all faults as objects. For people, what is wrong behind the
// first damage of a file is only counted, as most of it follows from that, and so is
// what is more than they would read.
func (c *call) printFaults(found []fault) error {
	if c.out.json {
		for _, f := range found {
			if err := c.out.object(f); err != nil {
				return err
			}
		}
		return nil
	}
	shown, follow, beyond := found, map[string]int{}, 0
	if !c.flags.Bool("verbose") {
		shown, follow = causes(found)
		beyond = max(len(shown)-shownFaults, 0)
		shown = shown[:len(shown)-beyond]
	}
	for _, f := range shown {
		c.out.people("%s\n", oneLine(f.line()))
	}
	if beyond > 0 {
		c.out.people("%s: %s: --verbose names them\n", found[0].Session, count(beyond, "more fault"))
	}
	for _, path := range slices.Sorted(maps.Keys(follow)) {
		c.out.people("%s\n", oneLine(fmt.Sprintf("%s: %s in %s that may follow from the first: --verbose names them",
			found[0].Session, count(follow[path], "more fault"), path)))
	}
	return nil
}

// causes returns the faults that are no mere consequence of one before, and how many
// others there are, by path. A line that cannot be read makes sequences and digests
// wrong, and a queue that cannot be read lacks messages.
func causes(found []fault) (first []fault, follow map[string]int) {
	follow = map[string]int{}
	type cause struct {
		part part
		path string // of a log only
	}
	damaged := map[cause]bool{}
	for _, f := range found {
		if f.Severity != damage {
			first = append(first, f)
			continue
		}
		of := cause{part: f.part}
		if f.part.isLog() {
			of.path = f.Path
		}
		if damaged[of] && (f.part.isLog() || f.Offset == nil) {
			follow[f.Path]++
			continue
		}
		first = append(first, f)
		damaged[of] = damaged[of] || f.part.isLog() || f.Offset != nil
	}
	return first, follow
}

// damageOf is an error that begins with the words of lead and says what to do about
// the damage among the faults; nil if there is none.
func damageOf(id, lead string, found []fault) error {
	var todo []string
	for _, p := range []struct {
		part part
		do   string
	}{
		{inQueue, "docket repair " + id + " rebuilds the queue from the timeline"},
		{inTimeline, "docket log " + id + " prints what can still be read of the timeline, and what cannot comes back only from a copy of the file"},
		{inTurns, "docket turns " + id + " prints the turns before the damage; with its directory turns moved away, the next host begins a new log"},
		{inWatchers, "move the list of watchers away, and name them again with docket watch " + id + " --by WATCHER"},
		{inQueueOnly, "docket revoke " + id + " MID takes back a message that the timeline does not hold, so that it can be sent again"},
		{inPosition, "the reader's position can be removed: it begins anew then, and is given every event again"},
		{inRecord, "put a good copy of the record there, or docket close " + id},
	} {
		if slices.ContainsFunc(found, func(f fault) bool { return f.part == p.part && f.Severity == damage }) {
			todo = append(todo, p.do)
		}
	}
	if todo == nil {
		return nil
	}
	return &advised{lead + ": " + strings.Join(todo, "; "), errFaults}
}

func (f fault) line() string {
	at := f.Path
	if f.Offset != nil {
		at += fmt.Sprintf(" at byte %d", *f.Offset)
	}
	return fmt.Sprintf("%s: %s: %s: %s", f.Session, f.Severity, at, f.Error)
}

// faultsOf reads the record, the logs and the queue of a session.
func (c *call) faultsOf(ctx context.Context, s *session.Session) (found []fault, err error) {
	odd, err := s.Check(ctx)
	for _, o := range odd {
		found = append(found, inRecords(s.ID(), o))
	}
	if err != nil {
		return found, err
	}
	inLog, err := s.Timeline().Verify(ctx)
	for _, f := range inLog {
		found = append(found, fault{s.ID(), f.Severity.String(), f.Path, &f.Offset, inFile(f.Path, f.Err), inTimeline})
	}
	if err != nil {
		return found, err
	}
	for _, faults := range []func(context.Context, *session.Session) ([]fault, error){turnFaults, c.watcherFaults, queueFaults, positionFaults} {
		more, err := faults(ctx, s)
		found = append(found, more...)
		if err != nil {
			return found, err
		}
	}
	between, err := c.disagreements(ctx, s)
	return append(found, between...), err
}

// inRecords is a fault of the record, or of what the store says about the session.
func inRecords(id string, err error) fault {
	f := fault{Session: id, Severity: damage, Error: err.Error(), part: inRecord}
	var bad *session.RecordError
	var odd *session.Oddity
	switch {
	case errors.As(err, &bad):
		f.Path, f.Error = bad.Path, bad.Err.Error()
	case errors.As(err, &odd):
		f.Path, f.Error, f.part = odd.Path, odd.Reason, inTimeline
		if !odd.Damage {
			f.Severity = note
		}
	}
	return f
}

// inFile returns the text of err without the place of the file, which stands in front.
func inFile(path string, err error) string {
	if bad := (*segment.CorruptError)(nil); errors.As(err, &bad) && bad.Path == path {
		err = bad.Err
	}
	return ownWords("", err)
}

// queueFaults reads the queue file without the record lock, and again under it if there
// seems to be a fault that is no edit under way: then nothing moves meanwhile.
func queueFaults(ctx context.Context, s *session.Session) (found []fault, err error) {
	q, err := queue.Open(s.Dir(), queue.Options{Locks: s.Locks()})
	if err != nil {
		return nil, err
	}
	defer q.Close()
	in, err := q.Scan(nil)
	if err != nil || len(in.Faults) == 0 || passing(q, in) {
		return nil, err
	}
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
	if in, err = q.Scan(nil); err != nil {
		return nil, err
	}
	for _, f := range in.Faults {
		severity := damage
		if f.Kind == queue.TornTail || f.Kind == queue.TornHead {
			severity = note
		}
		found = append(found, fault{s.ID(), severity, f.Path, &f.Offset, fmt.Sprintf("%v: %v", f.Kind, f.Err), inQueue})
	}
	return found, nil
}

// passing reports that faults of the list alone were found, and that they are gone.
func passing(q *queue.Queue, in queue.Inspection) bool {
	if slices.ContainsFunc(in.Faults, func(f queue.Fault) bool { return f.Path != in.Path }) {
		return false
	}
	for _, err := range q.All() {
		if err != nil {
			return false
		}
	}
	return true
}

// disagreements are the messages about which queue and timeline say different things.
func (c *call) disagreements(ctx context.Context, s *session.Session) (found []fault, err error) {
	all, err := c.dispatch.Disagreements(ctx, s.ID())
	for _, d := range all {
		f := fault{Session: s.ID(), Severity: damage, Path: s.Dir(), Error: ownWords(s.ID(), d), part: inQueue}
		if errors.Is(d, dispatch.ErrUnrecorded) {
			f.part = inQueueOnly
		}
		found = append(found, f)
	}
	return found, err
}
