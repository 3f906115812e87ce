package dispatch

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
)

// An owing is a message that the queue holds, or is to hold. Its bytes are at its place
// in the queue, or those that the timeline has, or given.
type owing struct {
	mid    string
	seq    uint64
	hasSeq bool
	doubt  string
	bytes  fingerprint
	at     queue.Place

	restored   bool         // as the timeline has it
	lost       bool         // the queue does not hold it
	unrecorded bool         // the timeline does not hold it
	entry      *queue.Entry // if it is given
	place      uint64       // by which it is sorted
}

func (o owing) read(list *queue.Reading, next func() (timeline.Debt, error, bool)) (queue.Entry, error) {
	switch {
	case o.entry != nil:
		return *o.entry, nil
	case !o.restored:
		return o.queued(list)
	}
	found, err, more := next()
	e := debt(found.Sent)
	if err == nil && !(more && o.is(e)) {
		err = fmt.Errorf("message %s: %w: its line is another one now", o.mid, timeline.ErrCorrupt)
	}
	return e, err
}

// queued reads the message from the queue. A file that somebody put in its place without
// the record lock may have another message there.
func (o owing) queued(list *queue.Reading) (queue.Entry, error) {
	e, err := list.Read(o.at)
	if err == nil && !o.is(e) {
		err = fmt.Errorf("message %s: %w: another one is in its place now", o.mid, queue.ErrCorrupt)
	}
	return e, err
}

func (o owing) is(e queue.Entry) bool { return e.MID == o.mid && fingerprintOf(e) == o.bytes }

// writeTo adds what the queue is to hold of the message to a sum.
func (o owing) writeTo(sum io.Writer) {
	writeTexts(sum, o.mid, o.doubt, string(o.bytes[:]))
	line := binary.BigEndian.AppendUint64(nil, o.seq)
	if o.hasSeq {
		line[0] |= 1 << 7 // no sequence gets as far
	}
	sum.Write(line)
}
