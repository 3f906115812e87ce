package timeline

import (
	"context"
	"time"

	"github.com/docket-go/docket/timeline/segment"
	"github.com/fsnotify/fsnotify"
)

// Schema is what the segment engine is given.
var Schema segment.Schema = schema{}

// MaxListed is how many debts a header lists.
const MaxListed = maxListed

// EncodeEntry returns the line that Write stores for e, without its sequence.
func EncodeEntry(e Entry, now time.Time) ([]byte, error) {
	return e.append(nil, now), e.check(DefaultMaxTextBytes)
}

// Decoded is everything that this package reads out of one line.
type Decoded struct {
	Class segment.Class
	Event Event
	Sent  Sent
}

// DecodeLine decodes a stored line.
func DecodeLine(raw []byte) (Decoded, error) {
	l, err := parse(raw)
	if err != nil {
		return Decoded{Class: segment.Unreadable}, err
	}
	d := Decoded{Class: l.class()}
	if d.Class == segment.Public {
		d.Event = l.event(0)
	}
	if l.kind == sentLine {
		d.Sent = l.decodeSent()
	}
	return d, nil
}

// DecodeIntact decodes the public fields of a line as if its checksum fitted. It
// returns false if the line does not have the shape for that.
func DecodeIntact(raw []byte) (e Event, ok bool) {
	var l line
	if !l.parseShape(raw) {
		return Event{}, false
	}
	return l.event(0), true
}

// TimeByShape reads a time of the layout that this package writes.
func TimeByShape(s string) (time.Time, bool) { return timeByShape(s) }

// WithoutRaw returns the event as if it had not been read from a line.
func (e Event) WithoutRaw() Event {
	e.raw = ""
	return e
}

// SetWatcher makes every hub start its watcher with f.
func SetWatcher(f func() (*fsnotify.Watcher, error)) (restore func()) {
	ears.calls.Lock()
	defer ears.calls.Unlock()
	before := ears.start
	ears.start = f
	return func() {
		ears.calls.Lock()
		defer ears.calls.Unlock()
		ears.start = before
	}
}

// Watched returns how many directories this process watches, and whether the
// watcher runs.
func Watched() (dirs int, running bool) {
	ears.calls.Lock()
	defer ears.calls.Unlock()
	ears.mu.Lock()
	defer ears.mu.Unlock()
	return len(ears.dirs), ears.watcher != nil
}

// NewWaiter makes what a follower sleeps on, with an hour between two looks.
func NewWaiter(session, segments string) (wait func(context.Context) error, end func()) {
	w := newWaiter(session, segments, time.Hour)
	return w.wait, w.close
}

// Watching reports whether this process watches dir.
func Watching(dir string) bool {
	ears.mu.Lock()
	defer ears.mu.Unlock()
	return ears.dirs[dir] != nil
}
