package top

import (
	"regexp"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// An Event is one public event of a session, as the reader shows it.
type Event struct {
	Seq  uint64
	Time time.Time
	MID  string // of a message; empty for what the agent declared
	Who  string // the sender of a message
	Note bool   // its answer is read in a note
	Word string // the display word of what was declared
	Text string // lines
}

// A Page is a part of a conversation, oldest first.
type Page struct {
	Session string
	Events  []Event
	Live    bool // they follow what is there; otherwise they stand before it
	First   bool // nothing is before them
}

// maxEvents bounds what a reader holds. Beyond it the oldest go while the end is
// looked at; they can be read again.
const maxEvents = 4000

// A talk is a conversation that is read: a pager.
type talk struct {
	session string
	events  []Event
	rows    [][]screen.Piece // of each event's text, at width
	width   int
	loaded  bool
	whole   bool // nothing is before events
	asked   bool // for older ones
	top     int  // rows of text above the window
	live    bool // the window stays at the end
	height  int
	marks   map[string]string // states of messages that are owed, by mid
	search  *regexp.Regexp
	hit     hit
}

// A hit is a place that was found.
type hit struct {
	event, at int // byte in its text
	any       bool
}

// open begins to read a session.
func (t *talk) open(id string) { *t = talk{session: id, live: true, height: t.height, width: t.width} }

// add takes a page.
func (t *talk) add(p Page) {
	if p.Session != t.session {
		return
	}
	t.loaded = true
	rows := make([][]screen.Piece, len(p.Events))
	for i, e := range p.Events {
		rows[i] = t.wrap(e)
	}
	if p.Live {
		t.whole = t.whole || p.First
		t.events, t.rows = append(t.events, p.Events...), append(t.rows, rows...)
		if n := len(t.events) - maxEvents; n > 0 && t.live {
			t.events, t.rows, t.whole = append([]Event{}, t.events[n:]...), append([][]screen.Piece{}, t.rows[n:]...), false
			t.hit.event -= n
			t.hit.any = t.hit.any && t.hit.event >= 0
		}
	} else {
		t.asked, t.whole = false, p.First
		t.events, t.rows = append(p.Events, t.events...), append(rows, t.rows...)
		t.hit.event += len(p.Events)
		for i := range p.Events {
			t.top += t.rowsOf(i)
		}
	}
	t.settle()
}

func (t *talk) wrap(e Event) []screen.Piece {
	if e.Text == "" {
		return nil
	}
	return screen.Wrap(e.Text, max(t.width-2*indent, 1))
}

// indent is how far the texts stand in.
const indent = 2

// resize lays everything out for another window.
func (t *talk) resize(width, height int) {
	if t.height = height; t.width != width {
		first, _ := t.eventAt(t.top)
		t.width = width
		for i, e := range t.events {
			t.rows[i] = t.wrap(e)
		}
		t.top = t.rowOf(first)
	}
	t.settle()
}

// rowsOf returns how many rows an event takes: a head, its text, and an empty one; and
// one for the day, where that changes.
func (t *talk) rowsOf(i int) int {
	n := 2 + len(t.rows[i])
	if t.newDay(i) {
		n += 2
	}
	return n
}

func (t *talk) newDay(i int) bool {
	return i == 0 || day(t.events[i].Time) != day(t.events[i-1].Time)
}

func day(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// rowOf returns the row at which an event begins.
func (t *talk) rowOf(event int) (row int) {
	for i := range min(event, len(t.events)) {
		row += t.rowsOf(i)
	}
	return row
}

// eventAt returns the event in a row, and the row in it.
func (t *talk) eventAt(row int) (event, in int) {
	for i := range t.events {
		n := t.rowsOf(i)
		if row < n {
			return i, row
		}
		row -= n
	}
	return len(t.events), 0
}

// bottom is the highest sensible top.
func (t *talk) bottom() int { return max(t.rowOf(len(t.events))-1-t.height, 0) }

// settle puts the window where there is text.
func (t *talk) settle() {
	bottom := t.bottom()
	if t.live {
		t.top = bottom
	}
	t.top = min(max(t.top, 0), bottom)
}

// scroll moves the window by n rows. It reports whether older events are wanted.
func (t *talk) scroll(n int) (older bool) {
	t.top += n
	t.live = t.top >= t.bottom()
	t.settle()
	return t.wantsOlder()
}

func (t *talk) wantsOlder() bool {
	if t.top > t.height || t.whole || t.asked || !t.loaded || len(t.events) == 0 {
		return false
	}
	t.asked = true
	return true
}

// find searches, and goes to the last place that is found from the end of the window
// up. An empty text ends the search.
func (t *talk) find(text string) bool {
	t.search, t.hit = nil, hit{}
	if text == "" {
		return true
	}
	t.search = regexp.MustCompile("(?i)" + regexp.QuoteMeta(text))
	last, _ := t.eventAt(t.top + t.height - 1)
	t.hit = hit{event: min(last+1, len(t.events))}
	return t.step(-1)
}

// step goes to the next hit, or with by -1 to the one before. It reports whether there
// is one.
func (t *talk) step(by int) bool {
	if t.search == nil {
		return false
	}
	for i := t.hit.event; i >= 0 && i <= len(t.events); i += by {
		if i == len(t.events) {
			continue
		}
		if at, found := t.beside(i, by); found {
			t.hit = hit{event: i, at: at, any: true}
			t.reveal()
			return true
		}
	}
	return false
}

// beside returns the next hit in an event, in the direction by.
func (t *talk) beside(event, by int) (at int, found bool) {
	here := t.hit.any && event == t.hit.event
	for _, place := range t.search.FindAllStringIndex(t.events[event].Text, -1) {
		if by > 0 && (!here || place[0] > t.hit.at) {
			return place[0], true
		}
		if by < 0 && (!here || place[0] < t.hit.at) {
			at, found = place[0], true
		}
	}
	return at, found
}

// reveal moves the window to the hit.
func (t *talk) reveal() {
	row := t.rowOf(t.hit.event) + 1
	if t.newDay(t.hit.event) {
		row += 2
	}
	for i, p := range t.rows[t.hit.event] {
		if p.At <= t.hit.at && i > 0 {
			row++
		}
	}
	if row < t.top || row >= t.top+t.height {
		t.top = row - t.height/2
	}
	t.live = t.bottom() == 0 // otherwise what comes would move it away
	t.settle()
}
