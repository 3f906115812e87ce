package top

import (
	"slices"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
)

// A view is what the terminal shows.
type view uint8

const (
	listView view = 1 << iota
	talkView
	debtsView
	helpView
)

// A Model is all that the view knows. It is used by one goroutine.
type Model struct {
	store         string
	match         string // which sessions are shown; empty means all
	now           time.Time
	width, height int
	view          view
	back          []view // where leaving a view leads to
	list          list
	talk          talk
	ledger        ledger
	help          int // rows above the window
	entry         *entry
	question      *question
	notice        notice
	unread        int               // sessions that were not looked at yet
	bad           string            // what keeps the list from being whole
	busy          map[string]string // what is under way, by session
}

// A notice is one line about what was done, until the next key.
type notice struct {
	text string
	bad  bool
}

// An entry is a line that is typed: a filter or a search.
type entry struct {
	text   string
	before string // what it was
}

// A question is asked before something is changed.
type question struct {
	about   string // the message, in a line
	text    string // the whole of it
	ask     string
	command Command
}

// A Batch is what became known of sessions.
type Batch struct {
	Rows []Row
	Gone []string // sessions that are closed
	Left int      // sessions that were not looked at yet
	Bad  string   // what keeps the rest from being known; empty if nothing does
}

// New returns the model of a store, for a terminal of that size.
func New(store string, width, height int, now time.Time) *Model {
	m := &Model{store: store, view: listView, now: now, unread: -1, busy: map[string]string{}}
	m.Resize(width, height)
	return m
}

// Only says which sessions are shown, as patterns for people; empty means all.
func (m *Model) Only(match string) { m.match = match }

// Resize lays the view out for a terminal of that size.
func (m *Model) Resize(width, height int) {
	m.width, m.height = max(width, 1), max(height, 1)
	m.list.height = m.layout().body
	m.list.show()
	m.talk.resize(m.width, max(m.height-headRows-footRows, 1))
}

// Tick sets the time by which ages are told.
func (m *Model) Tick(now time.Time) { m.now = now }

// Put takes what became known of sessions.
func (m *Model) Put(b Batch) []Command {
	m.unread, m.bad = b.Left, b.Bad
	m.list.put(b.Rows, b.Gone)
	open := m.open()
	if open != "" && slices.ContainsFunc(b.Rows, func(r Row) bool { return r.ID == open }) {
		return []Command{{Act: List, Session: open}}
	}
	if open != "" && slices.Contains(b.Gone, open) {
		return m.gone(open)
	}
	return nil
}

// open returns the session whose debts are shown, or marked in its conversation.
func (m *Model) open() string {
	for _, v := range append([]view{m.view}, m.back...) {
		switch v {
		case debtsView:
			return m.ledger.Session
		case talkView:
			return m.talk.session
		}
	}
	return ""
}

// gone leaves a session that was closed.
func (m *Model) gone(id string) []Command {
	m.view, m.back, m.question, m.entry = listView, nil, nil, nil
	m.notice = notice{id + " was closed", true}
	return []Command{{Act: Close, Session: id}}
}

// PutDebts takes what a session is owed.
func (m *Model) PutDebts(d Debts) []Command {
	if d.Session == m.talk.session {
		m.talk.marks = make(map[string]string, len(d.List))
		for _, debt := range d.List {
			m.talk.marks[debt.MID] = debt.word()
		}
	}
	m.ledger.take(d)
	if m.view != debtsView || m.ledger.wanted == "" || !m.ledger.loaded || d.Session != m.ledger.Session {
		return nil
	}
	key := m.ledger.wanted
	m.ledger.wanted = ""
	return m.Key(screen.Key{Name: key, Text: key})
}

// PutPage takes a part of a conversation.
func (m *Model) PutPage(p Page) []Command {
	m.talk.add(p)
	return nil
}

// Done takes how a command ended: what came of it, or what went wrong.
func (m *Model) Done(c Command, text string, bad bool) []Command {
	if c.changes() {
		delete(m.busy, c.Session)
	}
	if c.Act == Older {
		m.talk.asked = false
	}
	if text != "" {
		m.notice = notice{c.Session + ": " + text, bad}
	}
	if c.changes() && m.open() == c.Session {
		return []Command{{Act: List, Session: c.Session}}
	}
	return nil
}

// Visible returns the sessions that are on the terminal: they should be known first.
func (m *Model) Visible() []string {
	var ids []string
	if open := m.open(); open != "" {
		ids = append(ids, open)
	}
	for _, it := range m.list.window() {
		ids = append(ids, it.ID)
	}
	return ids
}

// Key takes one key.
func (m *Model) Key(k screen.Key) []Command {
	m.notice = notice{}
	switch {
	case k.Name == "ctrl+c":
		return []Command{{Act: Quit}}
	case m.question != nil:
		return m.answer(k)
	case m.entry != nil:
		m.typed(k)
		return nil
	}
	for _, b := range bindings() {
		if b.in&m.view != 0 && slices.Contains(b.keys, k.Name) {
			return b.act(m)
		}
	}
	return nil
}

// answer takes a key while a question is asked: y alone means yes.
func (m *Model) answer(k screen.Key) []Command {
	switch k.Name {
	case "y", "Y":
		c := m.question.command
		m.question = nil
		return m.begin(c)
	case "n", "N", "esc", "q":
		m.question = nil
		m.notice = notice{text: "nothing was changed"}
	}
	return nil
}

// begin asks for a change, one at a time for each session.
func (m *Model) begin(c Command) []Command {
	if m.busy[c.Session] != "" {
		m.notice = notice{c.Session + " is busy: " + m.busy[c.Session], true}
		return nil
	}
	m.busy[c.Session] = c.doing()
	return []Command{c}
}

// typed takes a key while a line is typed.
func (m *Model) typed(k screen.Key) {
	e := m.entry
	switch k.Name {
	case "enter":
		m.entry = nil
		if m.view == talkView && !m.talk.find(e.text) {
			m.notice = notice{"not found in what is loaded: " + e.text, true}
		}
		return
	case "esc":
		m.entry = nil
		e.text = e.before
	case "backspace":
		e.text = withoutLast(e.text)
	case "ctrl+u":
		e.text = ""
	default:
		e.text += firstLine(k.Text)
	}
	if m.view == listView {
		m.list.keep(e.text)
	}
}
