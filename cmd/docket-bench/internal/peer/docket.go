package peer

import (
	"context"

	"github.com/docket-go/docket/cmd/docket-bench/internal/prose"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
)

// docket is a timeline that stays open.
type docket struct {
	log     *timeline.Log
	options timeline.Options
	dir     string
}

// Docket opens a timeline to append to with a held handle.
func Docket(dir string, d Durability) (Log, error) {
	o := timeline.Options{Buffered: d == Buffered}
	l, err := timeline.Open(dir, o)
	return &docket{l, o, dir}, err
}

func (d *docket) Append(n uint64) error {
	_, err := d.log.Append(context.Background(), prose.Sent(n))
	return err
}

func (d *docket) Count() (n int, err error) {
	l, err := timeline.Open(d.dir, d.options)
	if err != nil {
		return 0, err
	}
	defer l.Close()
	for _, err := range l.All(context.Background()) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func (d *docket) Close() error { return d.log.Close() }

// docketFresh is a timeline that is opened anew for each message.
type docketFresh struct{ docket }

// DocketFresh opens a timeline anew for each message, as a command does.
func DocketFresh(dir string, d Durability) (Log, error) {
	l, err := Docket(dir, d)
	if err != nil {
		return nil, err
	}
	return &docketFresh{*l.(*docket)}, nil
}

func (d *docketFresh) Append(n uint64) error {
	l, err := timeline.Open(d.dir, d.options)
	if err != nil {
		return err
	}
	if _, err := l.Append(context.Background(), prose.Sent(n)); err != nil {
		return err
	}
	return l.Close()
}

// docketLocked is a timeline under a record lock that is held all the time.
type docketLocked struct {
	docket
	locks *lock.Dir
	held  *lock.Record
}

// DocketLocked opens a timeline and keeps its record lock: what a write costs
// without the lock. One goroutine uses it.
func DocketLocked(dir string, d Durability) (Log, error) {
	locks, err := lock.Open(dir, lock.Options{})
	if err != nil {
		return nil, err
	}
	held, err := locks.Record(context.Background())
	if err != nil {
		return nil, err
	}
	o := timeline.Options{Buffered: d == Buffered, Locks: locks}
	l, err := timeline.Open(dir, o)
	return &docketLocked{docket{l, o, dir}, locks, held}, err
}

func (d *docketLocked) Append(n uint64) error {
	w, err := d.log.Write(d.held, prose.Sent(n))
	if err != nil {
		return err
	}
	return d.log.Commit(w)
}

func (d *docketLocked) Close() error {
	if err := d.held.Release(); err != nil {
		return err
	}
	if err := d.docket.Close(); err != nil {
		return err
	}
	return d.locks.Close()
}
