package dispatch

import (
	"context"
	"fmt"
	"math"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// reclaim makes the queue say what the timeline proves where somebody put a copy of the
// list in its place: what is at an end goes, and what was sent since is put back. That is
// what stands in the timeline behind all that the copy holds; what it lacks before may
// have been taken off by another program that hands over. A copy that makes no sense
// is left to who uses it.
func (d *Dispatcher) reclaim(ctx context.Context, h *handle, held *lock.Record) error {
	if !h.queue.Replaced(held) {
		return nil
	}
	behind, err := behindAll(h.queue)
	if err != nil {
		return fmt.Errorf("session %s: %w", h.ID(), err)
	}
	p, err := d.plan(ctx, held, planning{h: h, told: d.options.Logger != nil, behind: behind})
	if err == nil && p.done.Fault != nil {
		return nil
	}
	if err == nil {
		err = p.rebuild(ctx, held)
	}
	if err != nil {
		return fmt.Errorf("session %s: another file was put in the place of its queue: %w", h.ID(), err)
	}
	h.replaced.Store(&p.done)
	return nil
}

// behindAll is the sequence behind the lines of all that the queue holds. Where no entry
// has one, nothing is behind.
func behindAll(q *queue.Queue) (behind uint64, err error) {
	_, err = q.Scan(func(_ queue.Place, e queue.Entry) error {
		if e.HasSeq {
			behind = max(behind, e.Seq+1)
		}
		return nil
	})
	if behind == 0 {
		behind = math.MaxUint64
	}
	return behind, err
}
