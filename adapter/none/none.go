// Package none is the adapter of a session that has no agent to hand prompts to:
// it refuses every prompt, so that everything stays owed.
//
// # What it keeps
//
// Nothing.
//
// # Guarantees
//
// Every answer is a refusal that is [adapter.ErrGone] and says what to do. No
// prompt ever reaches anything, so another adapter may take over at any time.
//
// # Crashes
//
// There is nothing to leave behind.
//
// # Format
//
// Nothing on disk. The adapter has no settings of its own.
package none

import (
	"context"
	"fmt"

	"github.com/docket-go/docket/adapter"
)

// Kind is the adapter "none" for an [adapter.Registry].
var Kind = adapter.Kind{
	Name: "none",
	Doc:  "hands nothing over: everything stays owed",
	Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return New(), nil },
}

// Adapter refuses every prompt.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

// Headless reports false: what is not attached yet is taken to be read in its
// terminal, as most sessions are.
func (Adapter) Headless() bool { return false }

// Insert returns an error that is [adapter.ErrGone] and names the session and
// the command that hands over what it is owed.
func (Adapter) Insert(_ context.Context, p adapter.Prompt) error {
	return adapter.Because(adapter.ErrGone, fmt.Errorf(
		"session %s has no adapter, so everything stays owed: hand it over with docket drain %s --adapter NAME",
		p.Session, p.Session))
}
