package top

import (
	"slices"
	"strings"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// An item is a row in the list, with what its place was worked out from.
type item struct {
	Row
	kept bool // the filter keeps it
}

// A list is the sessions in order, of which a window is shown.
type list struct {
	items    map[string]*item
	order    []*item // those that the filter keeps
	filter   string  // in lower case; empty keeps all
	selected string  // the id
	moved    bool    // somebody chose it; until then it is whatever comes first
	first    int     // of the window
	height   int     // of the window
	widest   int     // columns of the longest id so far
	sum      sum
}

// A sum is what the head line says of all sessions.
type sum struct {
	sessions, persons int // of them, those that need a person
	owed              int // messages
}

// put takes rows that are new or have changed, and forgets those that are gone.
func (l *list) put(rows []Row, gone []string) {
	if l.items == nil {
		l.items = make(map[string]*item, len(rows))
	}
	at := l.at()
	for _, r := range rows {
		it := l.items[r.ID]
		if it == nil {
			it = &item{}
			l.items[r.ID] = it
			l.widest = max(l.widest, screen.Width(r.ID))
		} else {
			l.takeOut(it)
		}
		it.Row, it.kept = r, r.matches(l.filter)
		l.putIn(it)
	}
	for _, id := range gone {
		if it := l.items[id]; it != nil {
			l.takeOut(it)
			delete(l.items, id)
		}
	}
	l.choose(at)
}

// putIn puts a row where it belongs.
func (l *list) putIn(it *item) {
	l.sum.add(it.Row, 1)
	if it.kept {
		i, _ := l.find(it)
		l.order = slices.Insert(l.order, i, it)
	}
}

// takeOut takes a row, as it was put in, from its place.
func (l *list) takeOut(it *item) {
	l.sum.add(it.Row, -1)
	if i, found := l.find(it); found && it.kept {
		l.order = slices.Delete(l.order, i, i+1)
	}
}

// find returns the place of a row in the order.
func (l *list) find(it *item) (int, bool) {
	return slices.BinarySearchFunc(l.order, it, func(a, b *item) int { return Compare(a.Row, b.Row) })
}

func (s *sum) add(r Row, n int) {
	s.sessions += n
	if r.Need().Person() {
		s.persons += n
	}
	s.owed += n * r.Owed
}

// choose sees that there is a selection. It stays on its session; if that is gone, on
// the place at which it was.
func (l *list) choose(at int) {
	switch it := l.items[l.selected]; {
	case len(l.order) == 0:
		l.selected = ""
	case !l.moved:
		l.selected = l.order[0].ID
	case it == nil || !it.kept:
		l.selected = l.order[min(max(at, 0), len(l.order)-1)].ID
	}
	l.show()
}

// at returns the place of the selection, or -1.
func (l *list) at() int {
	it := l.items[l.selected]
	if it == nil || !it.kept {
		return -1
	}
	i, _ := l.find(it)
	return i
}

// move moves the selection by n rows, and stops at the ends.
func (l *list) move(n int) {
	if len(l.order) == 0 {
		return
	}
	l.moved = true
	l.selected = l.order[min(max(l.at()+n, 0), len(l.order)-1)].ID
	l.show()
}

// show moves the window so that the selection is in it, and no row at the end is
// wasted.
func (l *list) show() {
	at := max(l.at(), 0)
	if !l.moved {
		at = 0
	}
	l.first = min(l.first, at, max(len(l.order)-l.height, 0))
	l.first = max(l.first, at-l.height+1, 0)
}

// window returns the rows that are shown.
func (l *list) window() []*item {
	return l.order[min(l.first, len(l.order)):min(l.first+l.height, len(l.order))]
}

// current returns the row that is selected.
func (l *list) current() (Row, bool) {
	if it := l.items[l.selected]; it != nil && it.kept {
		return it.Row, true
	}
	return Row{}, false
}

// keep shows only the rows that the filter matches.
func (l *list) keep(filter string) {
	l.filter = strings.ToLower(filter)
	at := l.at()
	l.order = l.order[:0]
	for _, it := range l.items {
		if it.kept = it.matches(l.filter); it.kept {
			l.order = append(l.order, it)
		}
	}
	slices.SortFunc(l.order, func(a, b *item) int { return Compare(a.Row, b.Row) })
	l.choose(at)
}
