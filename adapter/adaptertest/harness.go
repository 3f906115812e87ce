// Package adaptertest is the conformance kit for adapters: one suite of cases
// that every [adapter.Adapter] must pass, run against the program that the
// adapter really hands prompts to.
//
// # What it keeps
//
// Nothing. A [Harness] gives the kit one adapter and a way to read what its
// program got; the kit inserts, reads, and compares.
//
// # Guarantees
//
// An adapter that passes hands over every text exactly as it says it does
// (control of quoting, line ends, options and length included), in order and
// once each, carries what it says it carries, marks every error, never says
// refused of a prompt that arrived nor taken of one that did not, comes back
// soon after its context ends, and is safe for concurrent use. Abilities that an
// adapter does not have are skipped by name.
//
// # Crashes
//
// The kit does not kill processes. What a crash inside Insert leaves is the
// adapter's own to test, as only it knows between which steps it can die.
//
// # Format
//
// Nothing on disk.
package adaptertest

import (
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
)

// A Harness is one adapter with its program, fresh for one case. Only Adapter is
// required; Received is too, unless NeverTakes is set.
type Harness struct {
	// Adapter is the adapter under test, ready to take prompts. Its program has
	// received nothing yet.
	Adapter adapter.Adapter

	// Received returns what the program received so far, in the order in which
	// it did. It must ask the program and not the adapter.
	Received func() ([]adapter.Prompt, error)

	// Expect returns what the program is to receive of a prompt: a transport
	// that does not carry the attributes, say, leaves them empty. Nil means that
	// it carries everything, with the text as an [adapter.Sanitiser] changes it.
	Expect func(p adapter.Prompt) adapter.Prompt

	// MaxBytes is the length of the longest text that the adapter takes; a longer
	// one must be refused. Zero means that it takes every text of the kit, the
	// longest of which has 100 KB.
	MaxBytes int

	// NeverTakes says that the adapter refuses everything.
	NeverTakes bool

	// Refuse brings the program into a state in which Insert must refuse, and
	// Restore out of it. Nil skips the case; a nil Restore skips its second half.
	Refuse, Restore func() error

	// Hang makes the program accept the beginning of the next prompt and then
	// never answer. It returns a function that reports whether that beginning
	// has arrived. Nil skips the case.
	Hang func() (begun func() bool, err error)

	// LookupMayNotTell says that this configuration of an [adapter.Looker] may
	// answer CannotTell where others must say Present or Absent.
	LookupMayNotTell bool

	// Patience bounds every wait for something that must happen. It is no measure
	// of speed: only an adapter that hangs or never delivers reaches it. Zero
	// means one minute.
	Patience time.Duration
}

// Run runs every case as a subtest of t. It calls fresh once for each, with the
// subtest, whose cleanup is the place to end the program.
func Run(t *testing.T, fresh func(t *testing.T) Harness) {
	for _, c := range []struct {
		name string
		run  func(t *testing.T, k *kit)
	}{
		{"exact texts in order", exactTexts},
		{"sender and attributes", senderAndAttributes},
		{"too long is refused whole", tooLong},
		{"refusal leaves nothing behind", refusal},
		{"never takes", neverTakes},
		{"context ended before", endedBefore},
		{"context ends inside", endsInside},
		{"concurrent use", concurrentUse},
		{"lookup tells the truth", lookup},
		{"probe gives a defined state", probe},
		{"constant answers", constants},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, newKit(t, fresh(t))) })
	}
}

// kit is a harness with the defaults filled in.
type kit struct {
	Harness
	opened adapter.Opened
}

func newKit(t *testing.T, h Harness) *kit {
	if h.Adapter == nil || (h.Received == nil && !h.NeverTakes) {
		t.Fatal("harness: got no Adapter or no Received, want both")
	}
	k := &kit{h, adapter.Use("under test", h.Adapter)}
	if k.Expect == nil {
		k.Expect = func(p adapter.Prompt) adapter.Prompt {
			p.Text = k.opened.Sanitise(p.Text)
			return p
		}
	}
	if k.Patience == 0 {
		k.Patience = time.Minute
	}
	if k.Received == nil {
		k.Received = func() ([]adapter.Prompt, error) { return nil, nil }
	}
	return k
}

// takes skips a case that needs an adapter that takes prompts.
func (k *kit) takes(t *testing.T) {
	if k.NeverTakes {
		t.Skip("this adapter refuses everything")
	}
}
