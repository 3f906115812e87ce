package fleet

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// A first look is what the start found of a member.
type firstLook struct {
	glimpse
	err error // the session could not be looked at
}

// lookAround watches each member and then takes a glance at it. The watches are placed
// one by one, since the system takes no two at a time; all other processors look
// meanwhile at the members that are watched already.
func (f *follower) lookAround() []firstLook {
	const batch = 64
	looks := make([]firstLook, len(f.members))
	batches := make(chan []*member, 1+len(f.members)/batch)
	lookAt := func() {
		var l timeline.Looker
		l.Below(f.root)
		defer l.Close()
		for members := range batches {
			for _, m := range members {
				looks[m.slot] = f.firstLook(&l, m)
			}
		}
	}
	var work sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0)-1, len(f.members)/batch) {
		work.Go(lookAt)
	}
	for members := range slices.Chunk(f.members, batch) {
		for _, m := range members {
			f.watch(m)
		}
		batches <- members
	}
	close(batches)
	lookAt()
	work.Wait()
	return looks
}

func (f *follower) firstLook(l *timeline.Looker, m *member) (look firstLook) {
	var ok bool
	if look.glimpse, ok = glance(l, f.dirOf(m.id)); !ok {
		look.glimpse, look.err = f.inspect(f.ctx, m.id)
	}
	return look
}

// start puts each member at its start, and the cursor at that of the whole. A session
// that cannot be looked at joins once it can.
func (f *follower) start(looks []firstLook) error {
	for i, m := range f.members {
		if looks[i].err == nil {
			m.know(&looks[i].glimpse)
		}
	}
	switch f.options.Mode {
	case TailOnly:
		for i, m := range f.members {
			m.seq, m.joined = m.end, looks[i].err == nil
		}
	case After:
		return f.resume(looks)
	}
	f.next = cursorOf(f.places())
	return nil
}

// places returns those of the members that have joined.
func (f *follower) places() []place {
	places := make([]place, len(f.members))
	for i, m := range f.members {
		if m.joined {
			places[i] = m.place()
		}
	}
	return places
}

// resume is start from a cursor.
func (f *follower) resume(looks []firstLook) error {
	olds := f.options.After.places()
	ours := len(olds) == 0 || f.options.After.kept
	var others []place // in slots behind the members'
	for _, old := range olds {
		m := f.index[old.id]
		switch {
		case m == nil:
			if f.options.matches(old.id) {
				f.departed = append(f.departed, departure{old, len(f.members) + len(others)})
			} else {
				ours = ours || exists(f.dirOf(old.id))
			}
			others = append(others, old)
		case looks[m.slot].err != nil:
			m.joined, m.seq, m.was = true, old.seq, old
			ours = true
		case old.isIn(m.epoch):
			m.joined, m.seq = true, old.seq
			ours = true
		default:
			f.departed = append(f.departed, departure{old, m.slot})
		}
		ours = ours || f.closed(old.id)
	}
	if !ours {
		return fmt.Errorf("fleet: %w: the store %s holds none of its sessions", timeline.ErrForeignCursor, f.store.Dir())
	}
	places := f.places()
	for _, d := range f.departed {
		if d.slot < len(places) {
			places[d.slot] = d.place
		}
	}
	f.next = cursorOf(append(places, others...))
	f.members = append(f.members, make([]*member, len(others))...)
	return nil
}

// closed reports whether the store closed a session of that id.
func (f *follower) closed(id string) bool {
	_, was, _ := f.store.Closed(id) // a mark that cannot be read is one
	return was
}

// catchUp yields what was there at the start, and the mark.
func (f *follower) catchUp() error {
	for _, d := range f.departed {
		f.next = f.next.put(d.slot, place{})
		if f.members[d.slot] == nil {
			f.free = append(f.free, d.slot)
		}
		if err := f.emit(Update{Session: d.id, Left: true}, nil); err != nil {
			return err
		}
	}
	for slot, n := 0, len(f.members); slot < n; slot++ {
		if m := f.members[slot]; m != nil {
			if err := f.catchUpWith(m); err != nil {
				return err
			}
		}
	}
	return f.emit(Update{CaughtUp: true}, nil)
}

// catchUpWith yields what a member held at the start. A log that was not looked at is
// read as far as it goes.
func (f *follower) catchUpWith(m *member) error {
	if m.queued {
		return nil // it appeared meanwhile
	}
	fresh, known := !m.joined, m.seen != sight{}
	if !known {
		return f.read(m, history(turn.until))
	}
	if fresh {
		if err := f.join(m); err != nil {
			return err
		}
	}
	if m.seq != m.end || fresh && m.epoch != (segment.Epoch{}) || m.long && f.options.Mode != TailOnly {
		return f.read(m, history(m.end))
	}
	return nil
}
