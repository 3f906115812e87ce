package turn

import (
	"context"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/segment"
)

// A Trouble makes calls of the engine fail. A nil function leaves its call as it is.
type Trouble struct {
	Write func(write func() error) error // how the lines get into the file
	Sync  func() error                   // said instead of syncing
	Next  func(next uint64) (uint64, error)

	SyncAll func() error // said instead of syncing
}

// Trouble sets what fails from now on.
func (w *Writer) Trouble(t Trouble) { w.engine = &troubled{w.log.segments, t} }

type troubled struct {
	engine
	trouble Trouble
}

func (e *troubled) Write(held *lock.Record, lines ...[]byte) (w segment.Written, err error) {
	if e.trouble.Write == nil {
		return e.engine.Write(held, lines...)
	}
	err = e.trouble.Write(func() error { w, err = e.engine.Write(held, lines...); return err })
	return w, err
}

func (e *troubled) Sync(w segment.Written) error {
	if e.trouble.Sync == nil {
		return e.engine.Sync(w)
	}
	return e.trouble.Sync()
}

func (e *troubled) SyncAll() error {
	if e.trouble.SyncAll == nil {
		return e.engine.SyncAll()
	}
	return e.trouble.SyncAll()
}

// Recover does again what Open does with the files.
func (w *Writer) Recover(ctx context.Context) error {
	w.life = life{}
	return w.recover(ctx)
}

func (e *troubled) NextSeq(held *lock.Record) (uint64, error) {
	next, err := e.engine.NextSeq(held)
	if e.trouble.Next != nil && err == nil {
		return e.trouble.Next(next)
	}
	return next, err
}

// Encode returns the line of an event without the engine's fields.
func Encode(e Event) []byte { return e.append(nil, true) }

// Decode reads a line as a reader does, less sequence and place.
func Decode(line []byte) (Event, error) { return decode(line) }

// Schema is what the segment engine is given.
var Schema segment.Schema = schema{}

// CheckPayload returns what is wrong with an event's parts.
func CheckPayload(n Native, p Payload, maxText int) error { return checkPayload(n, p, maxText) }

// MaxStates is how many facts about a session a Writer knows.
const MaxStates = maxStates
