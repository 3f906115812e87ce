package tmux

import (
	"fmt"

	"github.com/docket-go/docket/adapter"
)

// A because is an error that reads as what happened and is, for callers, one of
// the adapter package's reasons.
type because struct {
	reason   error
	happened error
}

func (b *because) Error() string   { return b.happened.Error() }
func (b *because) Unwrap() []error { return []error{b.reason, b.happened} }

func gone(err error) error    { return &because{adapter.ErrGone, err} }
func blocked(err error) error { return &because{adapter.ErrBlocked, err} }
func busy(err error) error    { return &because{adapter.ErrBusy, err} }

// state is what a [Prober] says about a finding.
func (f finding) state() adapter.State {
	switch f {
	case foundIdle:
		return adapter.Idle
	case foundBusy:
		return adapter.Busy
	case foundDead, foundShell:
		return adapter.Gone
	case foundNoComposer:
		return adapter.Unknown
	}
	return adapter.Blocked
}

// obstacle is the refusal with which a screen of finding r answers, nil if a text
// may be typed.
func (r reading) obstacle(pane string) error {
	happened := r.describe(pane)
	switch r.finding {
	case foundIdle:
		return nil
	case foundBusy:
		return busy(happened)
	case foundDead, foundShell:
		return gone(happened)
	}
	return blocked(happened)
}

// describe says what is on the screen of pane and what to do about it.
func (r reading) describe(pane string) error {
	switch r.finding {
	case foundIdle:
		return fmt.Errorf("the harness in pane %s is idle", pane)
	case foundBusy:
		return fmt.Errorf("the harness in pane %s is at work (%s): it is tried again later", pane, r.detail)
	case foundDead:
		return fmt.Errorf("the program in pane %s has ended: start it again", pane)
	case foundShell:
		return fmt.Errorf("the shell %s waits in pane %s and would run the text: start the harness, or set program=%s", r.detail, pane, r.detail)
	case foundMode:
		return fmt.Errorf("pane %s is in copy mode: leave it", pane)
	case foundInputOff:
		return fmt.Errorf("pane %s takes no input: enable it with select-pane -e", pane)
	case foundDialog:
		return fmt.Errorf("a dialog is open in pane %s (%s): answer it", pane, r.detail)
	case foundDraft:
		return fmt.Errorf("the input line of pane %s is not empty (%s): submit or clear it", pane, r.detail)
	}
	return fmt.Errorf("no input line is to be seen in pane %s: set profile or composer for this harness", pane)
}

// stopsEnter reports whether Enter must not be pressed on the screen of r, on
// which a text of ours may stand.
func (r reading) stopsEnter() bool {
	switch r.finding {
	case foundDead, foundMode, foundInputOff, foundDialog, foundNoComposer:
		return true
	}
	return false
}
