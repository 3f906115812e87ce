package fleet

import (
	"cmp"
	"maps"
	"slices"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// A Cursor is a reader's place in a fleet: for each session that was followed, the
// next public event. A session that is not in it has not joined yet. Cursors are
// values that never change, and cheap to keep: those of neighbouring updates share
// their memory.
//
// The zero Cursor names no place; [Follow] refuses it with
// [timeline.ErrMalformedCursor].
type Cursor struct {
	rows  []*row
	valid bool
	kept  bool // it is a Position's, and so of this store
}

const rowLength = 64

// A row is a part of a cursor that is copied as a whole when a place in it changes.
type row [rowLength]place

// A place is where a reader is in one session.
type place struct {
	id  string // empty: nothing is in this slot
	log tag
	seq uint64
}

// A tag is the start of a log's epoch, which tells it from a later log of the same
// session. It is zero for a log that was empty, and had no epoch.
type tag [8]byte

func tagOf(e segment.Epoch) tag { return tag(e[:len(tag{})]) }

// is reports whether a place that was noted with this tag may be in the log with
// epoch e: in that log, or at the start of one that was empty then.
func (p place) isIn(e segment.Epoch) bool {
	return p.log == tagOf(e) || p.log == tag{} && p.seq == 0
}

// put returns the cursor with another place in a slot.
func (c Cursor) put(slot int, p place) Cursor {
	rows := make([]*row, max(len(c.rows), slot/rowLength+1))
	copy(rows, c.rows)
	changed := &row{}
	if old := rows[slot/rowLength]; old != nil {
		*changed = *old
	}
	changed[slot%rowLength] = p
	rows[slot/rowLength] = changed
	return Cursor{rows: rows, valid: true}
}

// cursorOf returns the cursor of places, each in the slot with its index.
func cursorOf(places []place) Cursor {
	c := Cursor{valid: true}
	for chunk := range slices.Chunk(places, rowLength) {
		r := &row{}
		copy(r[:], chunk)
		c.rows = append(c.rows, r)
	}
	return c
}

// places returns the places by id.
func (c Cursor) places() (all []place) {
	for _, r := range c.rows {
		if r == nil {
			continue
		}
		for _, p := range r {
			if p.id != "" {
				all = append(all, p)
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int { return cmp.Compare(a.id, b.id) })
	return all
}

// byID returns the places, each under its session.
func (c Cursor) byID() map[string]place {
	places := map[string]place{}
	for _, p := range c.places() {
		places[p.id] = p
	}
	return places
}

// sorted returns places by id.
func sorted(places map[string]place) []place {
	return slices.SortedFunc(maps.Values(places), func(a, b place) int { return cmp.Compare(a.id, b.id) })
}

// With returns the cursor with other places in the sessions that the cursors of their
// own timelines name. The zero Cursor gives one with these places alone. Whether they
// are there is found out by [Follow].
func (c Cursor) With(cursors ...timeline.Cursor) Cursor {
	places := c.byID()
	for _, one := range cursors {
		p := place{id: one.Session(), seq: one.Seq()}
		if one.Epoch() != (segment.Epoch{}) {
			p.log = tagOf(one.Epoch())
		}
		places[p.id] = p
	}
	with := cursorOf(sorted(places))
	with.kept = c.kept
	return with
}

// IsZero reports whether c is the zero Cursor, which names no place.
func (c Cursor) IsZero() bool { return !c.valid }

// Sessions returns the ids of the sessions in which c names a place, sorted.
func (c Cursor) Sessions() []string {
	places := c.places()
	ids := make([]string, len(places))
	for i, p := range places {
		ids[i] = p.id
	}
	return ids
}

// Seq returns the sequence of the next event of a session, and false if the session
// has not joined.
func (c Cursor) Seq(session string) (seq uint64, ok bool) {
	p, ok := c.at(session)
	return p.seq, ok
}

// at returns the place in a session.
func (c Cursor) at(session string) (p place, ok bool) {
	for _, r := range c.rows {
		if r == nil {
			continue
		}
		for i := range r {
			if session != "" && r[i].id == session {
				return r[i], true
			}
		}
	}
	return place{}, false
}
