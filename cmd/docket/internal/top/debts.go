package top

import (
	"slices"
	"time"
)

// A Debt is one message that a session is owed.
type Debt struct {
	MID         string
	Name        string // the MID as it is shown
	From        string // human, or the sending session
	Text        string // lines
	Since       time.Time
	Attempts    int
	Last        time.Time // of them
	Why         string    // the last one did not deliver it
	Unconfirmed bool
	Handing     bool // it is being handed over now
}

// Debts are the oldest of what a session is owed, in order.
type Debts struct {
	Session string
	List    []Debt
	Bad     string // why that cannot be told
}

// word is the state of the message.
func (d Debt) word() string {
	if d.Unconfirmed {
		return "unconfirmed"
	}
	if d.Handing {
		return "being handed over now"
	}
	return "owed"
}

// A ledger is the debts that are looked at.
type ledger struct {
	Debts
	loaded   bool
	selected string // the mid
	wanted   string // a key that waits for them
}

func (l *ledger) open(id string) { *l = ledger{Debts: Debts{Session: id}} }

// take takes what was read. The selection stays on its message; if that is gone, on
// the oldest.
func (l *ledger) take(d Debts) {
	if d.Session != l.Session {
		return
	}
	l.Debts, l.loaded = d, true
	if l.at() < 0 {
		l.selected = ""
		if len(d.List) > 0 {
			l.selected = d.List[0].MID
		}
	}
}

func (l *ledger) at() int {
	return slices.IndexFunc(l.List, func(d Debt) bool { return d.MID == l.selected })
}

func (l *ledger) move(n int) {
	if len(l.List) > 0 {
		l.selected = l.List[min(max(l.at()+n, 0), len(l.List)-1)].MID
	}
}

func (l *ledger) current() (Debt, bool) {
	if at := l.at(); at >= 0 {
		return l.List[at], true
	}
	return Debt{}, false
}
