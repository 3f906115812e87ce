package dispatch

import (
	"context"

	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
)

// A human is what a handle knows of the last message that a person sent. It holds as
// long as the log has no public line behind those that were looked at, whoever writes
// it. It is used under the record lock.
type human struct {
	known bool
	next  uint64 // the public sequence behind the lines that were looked at
	via   compose.Channel
}

// lastHuman returns the channel on which the last person asked for the answer, and ""
// if no person did.
func (h *handle) lastHuman(ctx context.Context, held *lock.Record) (compose.Channel, error) {
	next, err := h.Timeline().NextSeq(held)
	if err := h.synced(err); err != nil {
		return "", err
	}
	if h.human.known && h.human.next == next {
		return h.human.via, nil
	}
	h.human = human{}
	last, ok, err := h.Timeline().LastHuman(ctx)
	if err != nil {
		return "", err
	}
	h.human.known, h.human.next = true, next
	if ok {
		h.human.via = compose.Channel(last.Via)
	}
	return h.human.via, nil
}

// sent takes note of a line that was written behind those that were looked at.
func (k *human) sent(s timeline.Sent, w timeline.Written) {
	if !k.known || k.next != w.FirstSeq {
		return
	}
	k.next = w.NextSeq
	if s.From == "" {
		k.via = compose.Channel(timeline.Event{ReplyVia: s.ReplyVia}.Via())
	}
}
