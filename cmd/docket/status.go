package main

import (
	"context"
	"errors"
	"io/fs"
	"sync"
	"syscall"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/watching"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
	"github.com/docket-go/docket/timeline/turn"
)

// The exit statuses of docket.
const (
	statusDone      = 0
	statusFailed    = 1 // the disk, a lock that cannot be had at all, an adapter
	statusUsage     = 2 // the command line cannot be understood
	statusNotFound  = 3 // no such session or message
	statusRefused   = 4 // the input, or what is asked for in this state, is not acceptable
	statusCorrupt   = 5 // something stored cannot be read
	statusDeadline  = 6 // it did not happen in time
	statusStillOwed = 7 // a pass ended before everything was delivered
)

var (
	errStillOwed  = errors.New("something is still owed: see docket pending")
	errNoEvent    = errors.New("no such event in time")
	errUnwritten  = errors.New("standard output")
	errFaults     = errors.New("damage found")
	errUntold     = errors.New("a watcher was not told")
	errNoHostKind = errors.New("no adapter of a host")
)

// A rule gives an error its status and, where the command line knows better what
// to do, its words: {id} is the session in question, {cause} the error's own.
type rule struct {
	is     error
	status int
	say    string // empty means the error's own words
}

// rules are tried in order; the first that fits counts. An error in doubt comes
// first, as its cause would promise that nothing was written.
var rules = sync.OnceValue(func() []rule {
	return []rule{
		{dispatch.ErrInDoubt, statusFailed, "{cause}: docket log {id} shows whether it stands"},
		{session.ErrInDoubt, statusFailed, "written, but not promised: {cause}: docket show {id} shows whether it stands"},

		{errFaults, statusCorrupt, ""},
		{errUntold, statusRefused, ""},
		{queue.ErrCorrupt, statusCorrupt, "{cause}: see docket repair {id}"},
		{dispatch.ErrReceipt, statusCorrupt, ""},
		{dispatch.ErrUnrecorded, statusCorrupt, ""},
		{dispatch.ErrForgotten, statusCorrupt, "{cause}: docket repair {id} puts it back"},
		{dispatch.ErrEnded, statusCorrupt, "{cause}: docket repair {id} takes it out"},
		{dispatch.ErrAltered, statusCorrupt, "{cause}: docket repair {id} puts the accepted ones back"},
		{dispatch.ErrDoubled, statusCorrupt, "{cause}: docket repair {id} leaves one"},
		{dispatch.ErrOvertaken, statusCorrupt, "{cause}: docket repair {id} restores the order"},
		{session.ErrUnreadable, statusCorrupt, ""},
		{fleet.ErrCorrupt, statusCorrupt, ""},
		{timeline.ErrCorrupt, statusCorrupt, "{cause}: see docket verify {id}"},
		{segment.ErrCorrupt, statusCorrupt, "{cause}: see docket verify {id}"},
		{watching.ErrCorrupt, statusCorrupt, ""},
		{watching.ErrVersion, statusFailed, ""},
		{turn.ErrVersion, statusFailed, ""}, // nothing is damaged: docket is too old
		{turn.ErrKind, statusFailed, ""},
		{turn.ErrInvalid, statusCorrupt, ""},
		{host.ErrFile, statusCorrupt, ""},

		{session.ErrNotFound, statusNotFound, "no such session: make it with docket new {id}, or see docket ls"},
		{dispatch.ErrNoMessage, statusNotFound, "no such message: see docket log {id}"},
		{lock.ErrClosed, statusNotFound, "the session was closed meanwhile: see docket ls"},
		{timeline.ErrClosed, statusNotFound, "the session was closed meanwhile: see docket ls"},
		{host.ErrClosed, statusNotFound, "the session was closed meanwhile: see docket ls"},
		{host.ErrNoOption, statusNotFound, ""},
		{host.ErrNoPermission, statusNotFound, "{cause}: docket turns {id} shows what is asked, and with which options"},
		{watching.ErrNotWatching, statusNotFound, "{cause}: see docket watch {id}"},
		{segment.ErrClosed, statusNotFound, "the session was closed meanwhile: see docket ls"},

		{session.ErrBadID, statusRefused, ""},
		{watching.ErrSelf, statusRefused, "{cause}: name another session with --by"},
		{session.ErrExists, statusRefused, "the session exists already: see docket show {id}"},
		{session.ErrRetired, statusRefused, "the session is retired: it still receives, but declares nothing any more"},
		{session.ErrDeclaration, statusRefused, ""},
		{session.ErrField, statusRefused, ""},
		{session.ErrTooLarge, statusRefused, ""},
		{dispatch.ErrEmptyText, statusRefused, "the text is empty: give it after the session, or on standard input"},
		{dispatch.ErrHeld, statusFailed, ""},
		{dispatch.ErrKeyReused, statusRefused, ""},
		{dispatch.ErrKey, statusRefused, ""},
		{dispatch.ErrSenderClosed, statusRefused, ""},
		{dispatch.ErrAttributes, statusRefused, ""},
		{dispatch.ErrNotUnconfirmed, statusRefused, ""},
		{dispatch.ErrInFlight, statusRefused, ""},
		{queue.ErrNotPending, statusRefused, ""},
		{queue.ErrFull, statusRefused, "{cause}: deliver first, with docket drain {id}"},
		{queue.ErrInvalid, statusRefused, ""},
		{timeline.ErrTooLarge, statusRefused, ""},
		{segment.ErrTooLarge, statusRefused, ""},
		{timeline.ErrText, statusRefused, "{cause}: convert it first"},
		{timeline.ErrEntry, statusRefused, ""},
		{timeline.ErrMalformedCursor, statusRefused, "this is not a cursor, or not a whole one: take one that docket printed"},
		{timeline.ErrForeignCursor, statusRefused, "{cause}: take one that docket printed for that session as it is now"},
		{timeline.ErrFutureCursor, statusRefused, "{cause}: the log was cut, or put back from an older copy: begin anew without --after"},
		{turn.ErrText, statusRefused, "{cause}: convert it first"},
		{turn.ErrEvent, statusRefused, ""},
		{turn.ErrActive, statusRefused, ""},
		{turn.ErrFinished, statusRefused, ""},
		{turn.ErrTerminalConflict, statusRefused, ""},
		{segment.ErrFuture, statusRefused, ""},
		{segment.ErrLine, statusRefused, ""},
		{compose.ErrChannel, statusRefused, ""},
		{turn.ErrFaulted, statusFailed, "{cause}: the agent was ended, and docket host {id} -- CMD goes on behind what is recorded"},
		{turn.ErrWriter, statusFailed, "the session has a host already, or another program that records its turns: end that first"},
		{errNoHostKind, statusRefused, ""},
		{host.ErrNoHost, statusFailed, "{cause}, with docket host {id} -- CMD"},
		{host.ErrProtocol, statusFailed, "{cause}: start the host again, so that it is of this version of docket"},
		{host.ErrSilent, statusFailed, "{cause}: end its process, and start it again with docket host {id} -- CMD"},
		{adapter.ErrUnknownAdapter, statusRefused, "{cause}: see docket adapters"},
		{adapter.ErrUnknownSetting, statusRefused, ""},
		{adapter.ErrMissingSetting, statusRefused, "{cause}: give it with --set {setting}=…"},

		{lock.ErrTimeout, statusDeadline, "{cause} with --lock-wait"},
		{lock.ErrBusy, statusDeadline, ""},
		{context.DeadlineExceeded, statusDeadline, ""},
		{errNoEvent, statusDeadline, ""},

		{errStillOwed, statusStillOwed, ""},
		{context.Canceled, statusFailed, "interrupted before it was done: run it again"},

		{adapter.ErrRefused, statusFailed, ""}, // what an adapter meets is no trouble of the store
		{adapter.ErrBlocked, statusFailed, ""},
		{adapter.ErrBusy, statusFailed, ""},
		{adapter.ErrGone, statusFailed, ""},
		{adapter.ErrUnconfirmed, statusFailed, ""},
		{errUnwritten, statusFailed, ""},
		{syscall.ENOSPC, statusFailed, "{cause}: make room on the disk first"},
		{fs.ErrPermission, statusFailed, "{cause}: run docket doctor"},
	}
})

// statusOf returns the exit status for an error.
func statusOf(err error) int {
	var usage *usageError
	var setting *adapter.SettingError
	switch {
	case err == nil:
		return statusDone
	case errors.As(err, &usage):
		return statusUsage
	case errors.As(err, &setting):
		return statusRefused
	}
	if r := ruleOf(err); r != nil {
		return r.status
	}
	return statusFailed
}

func ruleOf(err error) *rule {
	rules := rules()
	for i := range rules {
		if errors.Is(err, rules[i].is) {
			return &rules[i]
		}
	}
	return nil
}
