package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
)

const (
	keptUpdates = 1000                   // at most so many are dealt with before the position is saved
	keptDelay   = 200 * time.Millisecond // and so long after the first of them
)

func asFlag(more string) verbFlag {
	return verbFlag{name: "as", usage: "go on where the reader `NAME` stopped, and keep the place in that session; " + more}
}

// A keeper keeps the place of the reader that --as names. What a reader does is saved
// in groups, since a save costs as much as hundreds of events. A nil keeper keeps
// nothing.
type keeper struct {
	call     *call
	name     string
	position *fleet.Position
	unsaved  int
	timer    <-chan time.Time
}

// keeper opens the position of the reader in --as. It is nil without that.
func (c *call) keeper() (*keeper, error) {
	if !c.flags.IsSet("as") {
		return nil, nil
	}
	k := &keeper{call: c, name: c.flags.String("as")}
	var err error
	if k.position, err = fleet.OpenPosition(c.store, k.name); err != nil {
		return nil, k.about(err)
	}
	return k, nil
}

// about names the reader in what is reported of err.
func (k *keeper) about(err error) error {
	if err != nil {
		k.call.about(k.name)
	}
	return err
}

// explained gives an error about a session the words that fit a place which nobody typed:
// one ahead of the session's log.
func (k *keeper) explained(id string, err error) error {
	if k == nil || !errors.Is(err, timeline.ErrFutureCursor) {
		return err
	}
	return &advised{fmt.Sprintf("%s: the log was cut, or put back from an older copy, since %s read it: "+
		"read %s without --as, or see docket help trouble", ownWords(id, err), k.name, id), err}
}

// note moves the position behind an update that was printed, if it is the last one, or
// if each moves it.
func (k *keeper) note(ctx context.Context, u fleet.Update, last, each bool) error {
	if k == nil || !last && !each {
		return nil
	}
	k.position.Advance(u)
	k.unsaved++
	if last || u.CaughtUp || k.unsaved >= keptUpdates {
		return k.save(ctx)
	}
	if k.timer == nil {
		k.timer = time.After(keptDelay)
	}
	return nil
}

// hold keeps a place as the one to begin at, if there was none.
func (k *keeper) hold(ctx context.Context, place fleet.Cursor) error {
	k.position.Advance(fleet.Update{Next: place})
	return k.save(ctx)
}

// due tells when what is not saved has to be.
func (k *keeper) due() <-chan time.Time {
	if k == nil {
		return nil
	}
	return k.timer
}

func (k *keeper) save(ctx context.Context) error {
	if k == nil {
		return nil
	}
	k.timer, k.unsaved = nil, 0
	return k.about(k.position.Save(ctx))
}

// close gives the reader's session back. What is kept is on the disk by then.
func (k *keeper) close() {
	if k == nil {
		return
	}
	if err := k.position.Close(); err != nil {
		k.call.report.line(k.name, "done, but not everything could be given back: "+words(k.name, err))
	}
}
