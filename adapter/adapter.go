// Package adapter is the seam between a session's queue and the program that is
// its agent: it hands over one composed prompt and says truthfully what became
// of it.
//
// # What it keeps
//
// Nothing. The interfaces here name what a harness can do, [Registry] opens the
// adapter that a session names, and the errors carry the answer. What is owed
// lives in the queue, what was said in the timeline; an adapter has neither.
//
// # Guarantees
//
// Every hand-over has one of three answers, read by [AnswerOf] from the error
// of [Adapter.Insert]: taken (nil: the harness provably has the prompt), refused
// (an error that is [ErrRefused]: nothing of it reached the harness, and nothing
// will) and unconfirmed (everything else). The third is not the second: a prompt
// whose fate is unknown is never handed over again as though it had failed. So
// whatever an implementation forgets to mark counts as unconfirmed, a panic
// included.
//
// [Registry.Open] refuses settings that it does not know, so that a misspelt
// one is never ignored, and names the adapter, the setting and what is allowed.
//
// # Crashes
//
// A process may die inside Insert. Nobody knows then whether the prompt arrived,
// and the caller, who has noted before the call that it was about to be made,
// treats it as unconfirmed: it asks [Looker] where the adapter has one, and
// follows the session's [Policy] where it has none or cannot tell.
//
// # Format
//
// Nothing on disk. Adapters that write files or talk a protocol describe it in
// their own packages. adapter/adaptertest proves an implementation.
package adapter

import "context"

// A Session is what an adapter learns about the session that it serves.
type Session struct {
	ID    string // the session's id
	Dir   string // its directory; an adapter may keep files of its own there
	Store string // the directory of the store that holds it; empty means unknown
}

// A Prompt is one message as the harness is to get it.
type Prompt struct {
	MID        string            // the unique id of the message
	Session    string            // the session that gets it
	From       string            // the session that sent it; empty means a human
	Text       string            // the composed text, valid UTF-8 without NUL
	Attributes map[string]string // what the sender attached; nil is as good as empty; not to be changed
}

// An Adapter hands prompts to one harness. Implementations must be safe for
// concurrent use, although a pass calls Insert for one prompt at a time.
type Adapter interface {
	// Headless reports whether nobody reads the harness's terminal, so that
	// answers must come back as notes. It must be constant, and must not
	// contact the harness.
	Headless() bool

	// Insert hands one prompt to the harness.
	//
	// It must return nil only if the harness provably has the whole prompt; it
	// must not wait for the work that the prompt causes unless that is the only
	// proof there is. It must return an error that is [ErrRefused] (see
	// [Refuse], [ErrBusy], [ErrBlocked], [ErrGone]) only if nothing of the
	// prompt reached the harness and nothing will reach it later. In every
	// other case it must return an error that is [ErrUnconfirmed] (see
	// [Unconfirm]). The error's text is what a person reads in the list of what
	// is owed, so it says what stood in the way and what to do.
	//
	// It must return soon after ctx ends, with refused if it had not begun and
	// unconfirmed if it had. Text must reach structured transports byte for
	// byte; an adapter that has to change it implements [Sanitiser].
	//
	// It may be called again with the same MID after a refusal, after Lookup
	// said Absent, or because a person or the session's policy asked for it.
	Insert(ctx context.Context, p Prompt) error
}

// A Looker is an adapter that can find out whether a prompt arrived. It is asked
// before any second Insert of a prompt whose first answer was unconfirmed.
type Looker interface {
	// Lookup must answer Present only if the harness provably has the prompt
	// with that mid, and Absent only if it provably does not have it and no
	// earlier Insert can still bring it there. Everything else, an error
	// included, is CannotTell. It must not change anything, and must return
	// soon after ctx ends.
	Lookup(ctx context.Context, mid string) (Presence, error)
}

// A Prober is an adapter that can see what its harness is doing.
type Prober interface {
	// Probe must not change anything and must be much cheaper than Insert. The
	// answer is a hint: a pass spares itself an Insert that Blocked or Gone
	// would refuse, and Insert must check again what it depends on. Blocked and
	// Gone may come with an error that says why, for the person who reads what
	// is owed; with any other state an error counts as Unknown.
	Probe(ctx context.Context) (State, error)
}

// An Interrupter is an adapter that can stop what its harness is doing.
type Interrupter interface {
	// Interrupt must ask the harness to stop its present turn and must not end
	// the harness itself. Nil means that it was asked, not that it stopped; with
	// no turn at work it does nothing and returns nil.
	Interrupt(ctx context.Context) error
}

// A Sanitiser is an adapter whose transport cannot carry every text, such as one
// that types into a terminal.
type Sanitiser interface {
	// Sanitise must return the exact text that Insert would hand over for text,
	// and must be a pure function. A caller that finds a difference says so.
	Sanitise(text string) string
}

// A Policied adapter says what is to become of a prompt that stays unconfirmed.
// Adapters without it get [Hold]; a session's setting "unconfirmed" overrides
// both.
type Policied interface {
	// Policy must be constant, and must be Redeliver only if handing over the
	// same prompt a second time does no harm.
	Policy() Policy
}

// A Presence is what a [Looker] knows about one prompt.
type Presence int

// The answers of [Looker].
const (
	CannotTell Presence = iota // nothing is proven
	Present                    // the harness has it
	Absent                     // the harness does not have it and will not get it
)

// String returns the word for p.
func (p Presence) String() string { return word(int(p), "cannot tell", "present", "absent") }

// A State is what a harness is doing.
type State int

// The answers of [Prober].
const (
	Unknown State = iota // it cannot be seen
	Idle                 // it waits for a prompt
	Busy                 // it is at work; whether it takes a prompt nevertheless is decided by Insert
	Blocked              // something is in the way, such as a dialog or a draft: Insert would refuse
	Gone                 // it is not there: Insert would refuse
)

// String returns the word for s.
func (s State) String() string { return word(int(s), "unknown", "idle", "busy", "blocked", "gone") }

// A Policy decides what happens to a prompt that stays unconfirmed when nothing
// can be looked up.
type Policy int

// The policies.
const (
	Hold      Policy = iota // it waits, and all behind it, until a person or a hook decides
	Redeliver               // it is handed over again
)

// String returns the value of the setting "unconfirmed" that means p.
func (p Policy) String() string { return word(int(p), "hold", "redeliver") }

func word(i int, words ...string) string {
	if i < 0 || i >= len(words) {
		return "undefined"
	}
	return words[i]
}
