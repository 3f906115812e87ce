package fleet

import (
	"path/filepath"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// A member is one session that is followed.
type member struct {
	id    string
	slot  int           // its place in the cursor, and its key in the watch
	epoch segment.Epoch // zero while its log is empty
	seq   uint64        // of its next event
	end   uint64        // where history ends
	seen  sight         // when it was last read to the end
	born  birth         // the life of an empty log
	was   place         // where it stood in a cursor, if its log could not be looked at yet

	joined bool // it has a place in the cursor
	queued bool // it is to be read
	lost   bool // it is to be watched anew
	deaf   bool // no notification tells of its events
	long   bool // the first look at its log took more than a glance
	odd    bool // the next look is for a newer segment
	cut    bool // its log was cut back: it is not read any more

	round  uint64              // of the last listing of the store that had it
	fault  string              // the last error that was told
	damage *timeline.LineError // the last unreadable line that was told
}

// place is the member's place in a cursor.
func (m *member) place() place {
	if m.was.id != "" {
		return m.was
	}
	p := place{id: m.id, seq: m.seq}
	if m.epoch != (segment.Epoch{}) {
		p.log = tagOf(m.epoch)
	}
	return p
}

// cursor is the member's place in its own log.
func (m *member) cursor() timeline.Cursor { return timeline.NewCursor(m.id, m.epoch, m.seq) }

// know notes what a look at the log has shown.
func (m *member) know(g *glimpse) {
	m.seen, m.born, m.epoch, m.end, m.long = g.seen, g.born, g.epoch, g.end, g.long
}

// told reports whether an unreadable line was told before. They come again when the
// reading begins again in front of them.
func (m *member) told(bad *timeline.LineError) bool {
	before := m.damage
	if before != nil && before.Path == bad.Path && bad.Offset <= before.Offset {
		return true
	}
	m.damage = bad
	return false
}

func (f *follower) dirOf(id string) string {
	return f.root + string(filepath.Separator) + id
}

// watch begins to watch a member anew: the directory of its segments, or the
// session's as long as there is none. Whoever calls it has to look afterwards.
func (f *follower) watch(m *member) {
	dir := f.dirOf(m.id)
	at := f.set.Add(m.slot, timeline.SegmentsDir(dir), dir)
	m.deaf, m.lost = at < 0, at != 0
}

// moved looks with one stat whether a member may have news. With thorough set it
// takes two.
func (f *follower) moved(m *member, thorough bool) bool {
	dir := f.dirOf(m.id)
	if m.seen.Segment == 0 {
		born, changed, err := birthOf(dir)
		return err != nil || m.epoch != segment.Epoch{} || born != m.born || changed != m.seen.home
	}
	m.odd = !m.odd
	segments := timeline.SegmentsDir(dir)
	if (m.odd || thorough) && m.seen.Passed(segments) {
		return true
	}
	return (!m.odd || thorough) && m.seen.Changed(segments)
}

func (f *follower) enqueue(m *member) {
	if !m.queued {
		m.queued = true
		f.queue = append(f.queue, m)
	}
}

// enlist makes a member of a session, which is to be read.
func (f *follower) enlist(id string) *member {
	m := &member{id: id, slot: len(f.members)}
	if free := len(f.free); free > 0 {
		m.slot, f.free = f.free[free-1], f.free[:free-1]
		f.members[m.slot] = m
	} else {
		f.members = append(f.members, m)
	}
	f.index[id] = m
	return m
}

// dismiss forgets a member.
func (f *follower) dismiss(m *member) {
	f.set.Remove(m.slot)
	delete(f.index, m.id)
	f.members[m.slot] = nil
	f.free = append(f.free, m.slot)
}
