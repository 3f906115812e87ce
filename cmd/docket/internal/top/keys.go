package top

import (
	"strings"
	"unicode/utf8"
)

// A binding says what keys do in some of the views. Footer and help are made of the
// same table.
type binding struct {
	keys []string
	in   view
	word string // of the footer; empty keeps it out
	more string // of the help
	act  func(m *Model) []Command
}

// silent is an act that has no command.
func silent(f func(m *Model)) func(m *Model) []Command {
	return func(m *Model) []Command {
		f(m)
		return nil
	}
}

const everywhere = listView | talkView | debtsView | helpView

// bindings are the keys, in the order of the footer. The first that fits counts.
func bindings() []binding {
	const sessions = listView | debtsView
	return []binding{
		{[]string{"enter"}, sessions, "read", "read the conversation of the session", (*Model).readTalk},
		{[]string{"p"}, listView | talkView, "pending", "what it is owed, with reasons", func(m *Model) []Command { return m.readDebts("") }},
		{[]string{"r"}, listView | talkView | debtsView, "retry", "hand over what is owed now", (*Model).retry},
		{[]string{"x"}, listView, "revoke", "take a message back, after a question", func(m *Model) []Command { return m.readDebts("x") }},
		{[]string{"x"}, debtsView, "revoke", "take the message back, after a question", silent((*Model).askRevoke)},
		{[]string{"c"}, listView, "confirm", "an unconfirmed message arrived, after a question", func(m *Model) []Command { return m.readDebts("c") }},
		{[]string{"c"}, debtsView, "confirm", "the unconfirmed message arrived, after a question", silent((*Model).askConfirm)},
		{[]string{"a"}, listView, "", "an unconfirmed message did not arrive, after a question", func(m *Model) []Command { return m.readDebts("a") }},
		{[]string{"a"}, debtsView, "absent", "the unconfirmed message did not arrive, after a question", silent((*Model).askAbsent)},
		{[]string{"/"}, listView, "filter", "show only what holds a text; esc shows all again", silent((*Model).startFilter)},
		{[]string{"/"}, talkView, "search", "search in what is loaded", silent((*Model).startSearch)},
		{[]string{"n"}, talkView, "next", "the next place, further down", silent(func(m *Model) { m.stepHit(1) })},
		{[]string{"N"}, talkView, "", "the place before, further up", silent(func(m *Model) { m.stepHit(-1) })},
		{[]string{"j", "down", "ctrl+n"}, everywhere, "", "down", func(m *Model) []Command { return m.move(1) }},
		{[]string{"k", "up", "ctrl+p"}, everywhere, "", "up", func(m *Model) []Command { return m.move(-1) }},
		{[]string{" ", "pgdn", "ctrl+f"}, everywhere, "", "a page down", func(m *Model) []Command { return m.move(m.page()) }},
		{[]string{"b", "pgup", "ctrl+b"}, everywhere, "", "a page up", func(m *Model) []Command { return m.move(-m.page()) }},
		{[]string{"g", "home"}, everywhere, "", "to the start", func(m *Model) []Command { return m.move(-far) }},
		{[]string{"G", "end"}, everywhere, "", "to the end; a conversation is followed there", func(m *Model) []Command { return m.move(far) }},
		{[]string{"?"}, everywhere &^ helpView, "help", "this page", silent((*Model).showHelp)},
		{[]string{"esc"}, listView, "", "show all sessions", silent(func(m *Model) { m.list.keep("") })},
		{[]string{"q", "esc"}, everywhere &^ listView, "back", "back", (*Model).leave},
		{[]string{"q"}, listView, "quit", "leave", func(*Model) []Command { return []Command{{Act: Quit}} }},
	}
}

// far is more rows than there are.
const far = 1 << 30

// page is how far a page goes: one row of the last one stays.
func (m *Model) page() int { return max(m.height-headRows-footRows-1, 1) }

func (m *Model) move(n int) []Command {
	switch m.view {
	case talkView:
		if m.talk.scroll(n) {
			return []Command{{Act: Older, Session: m.talk.session, Before: m.talk.events[0].Seq}}
		}
	case debtsView:
		m.ledger.move(n)
	case helpView:
		m.help = min(max(m.help+n, 0), max(len(m.helpLines())-(m.height-headRows-footRows), 0))
	default:
		m.list.move(n)
	}
	return nil
}

// subject is the session that the keys are about.
func (m *Model) subject() string {
	switch m.view {
	case talkView:
		return m.talk.session
	case debtsView:
		return m.ledger.Session
	}
	r, _ := m.list.current()
	return r.ID
}

func (m *Model) enter(v view) {
	m.back = append(m.back, m.view)
	m.view = v
}

// leave goes back to the view before.
func (m *Model) leave() []Command {
	var commands []Command
	if m.view == talkView {
		commands = []Command{{Act: Close, Session: m.talk.session}}
		m.talk.open("")
	}
	m.view, m.back = m.back[len(m.back)-1], m.back[:len(m.back)-1]
	return commands
}

func (m *Model) readTalk() []Command {
	id := m.subject()
	if id == "" {
		return nil
	}
	m.list.moved = true
	if m.view == debtsView && m.back[len(m.back)-1] == talkView {
		return m.leave() // it is under this view
	}
	m.enter(talkView)
	m.talk.open(id)
	return []Command{{Act: Read, Session: id}, {Act: List, Session: id}}
}

// readDebts shows what the session is owed; the key wanted counts when that is known.
func (m *Model) readDebts(wanted string) []Command {
	id := m.subject()
	if id == "" {
		return nil
	}
	m.list.moved = true
	m.enter(debtsView)
	m.ledger.open(id)
	m.ledger.wanted = wanted
	return []Command{{Act: List, Session: id}}
}

func (m *Model) retry() []Command {
	id := m.subject()
	if id == "" {
		return nil
	}
	return m.begin(Command{Act: Retry, Session: id})
}

func (m *Model) askRevoke() {
	if d, ok := m.ledger.current(); ok {
		m.put(d, Revoke, "take it back? It will not be delivered; the record of it stays")
	} else {
		m.notice = notice{text: m.ledger.Session + " is owed nothing: nothing is left to revoke"}
	}
}

func (m *Model) askConfirm() { m.decide(Confirm, "has the agent got it? Then it is delivered") }
func (m *Model) askAbsent() {
	m.decide(Absent, "has the agent not got it? Then it is handed over again")
}

// decide asks about an unconfirmed message.
func (m *Model) decide(act Act, ask string) {
	if d, ok := m.ledger.current(); ok && d.Unconfirmed {
		m.put(d, act, ask)
	} else {
		m.notice = notice{text: "this message is not unconfirmed: nothing is left to decide"}
	}
}

// put puts a question about a message.
func (m *Model) put(d Debt, act Act, ask string) {
	m.question = &question{
		about: d.Name + "  from " + d.From + " to " + m.ledger.Session, text: d.Text, ask: ask,
		command: Command{Act: act, Session: m.ledger.Session, MID: d.MID},
	}
}

func (m *Model) startFilter() { m.entry = &entry{text: m.list.filter, before: m.list.filter} }
func (m *Model) startSearch() { m.entry = &entry{} }

func (m *Model) stepHit(by int) {
	if !m.talk.step(by) {
		m.notice = notice{text: "nothing more is found in what is loaded"}
	}
}

func (m *Model) showHelp() {
	m.enter(helpView)
	m.help = 0
}

// withoutLast returns text without its last character.
func withoutLast(text string) string {
	_, n := utf8.DecodeLastRuneInString(text)
	return text[:len(text)-n]
}

// firstLine is what of a pasted text is taken.
func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
