package doctor

import (
	"github.com/docket-go/docket/dispatch/debts"
)

// A tally is what is counted while the sessions are looked at.
type tally struct {
	survey   debts.Survey
	unlisted bool              // not all sessions are known
	adapters map[string]debtor // of those in survey.Oldest
	atWork   int               // whose message is being handed over right now
	archived int
	retired  int

	interrupted      int    // changes that nobody is at work on
	firstInterrupted string // one of them
	stuck            []stuck

	hosts hostTally

	exposed      int    // files and directories of sessions that others may read
	firstExposed string // one of them
	aside        int    // files that a repair set aside
	firstAside   string // one of them
}

// A debtor is what has to be known of a session to say what to do about its debt.
type debtor struct {
	adapter string
	unread  bool  // its record, so that nobody knows its adapter
	host    error // why no host can be reached; nil for one that can, or needs none
}

// A stuck is a session whose record lock was not free when it was looked at.
type stuck struct {
	id, dir string
	pid     int // of the holder; 0 if the system does not say
}

// maxStuck bounds the locks that are looked at a second time.
const maxStuck = 100

// A hostTally counts the sessions that have a host by their adapter.
type hostTally struct {
	all, idle, busy, missing int
}
