package tmux

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/docket-go/docket/adapter"
)

// Options configures an [Adapter]. The zero value is ready to use but for Target.
type Options struct {
	Target string // the pane, such as %5; required, no other form
	Socket string // name of the tmux server (-L), or path of its socket if it holds a slash; empty: tmux's own default

	// Bind is the identity that the pane must have, in the text form of
	// [Identity]; empty: what the pane has at first use, which is then kept.
	Bind string

	// Program must be the name of the pane's foreground program, as tmux reports
	// it. Empty: any but a shell's prompt.
	Program string

	Submit    string        // key that submits; empty: Enter
	Interrupt string        // key that stops a turn; empty: Escape
	Settle    time.Duration // between paste and Submit; zero: 300 ms, which every known harness is content with

	// Confirm is the proof of a hand-over: ConfirmScreen, ConfirmHook, or
	// ConfirmTranscript followed by a pattern of package path/filepath for
	// absolute paths. Empty: ConfirmScreen.
	Confirm string

	Wait           time.Duration // for the screen to show the text, and again for it to go; zero: 2 s
	TranscriptWait time.Duration // for a transcript to hold the text; zero: 10 s
	CommandTimeout time.Duration // of one tmux command; zero: 5 s

	AllowCommands bool   // texts that start like a command of the harness pass without a tag
	RefuseLong    bool   // texts that cannot be typed whole are refused, not put into a file of the session
	TypeWhileBusy bool   // a harness at work is typed to; by default it refuses
	Brackets      string // whether the program asks for bracketed paste: BracketsAuto, -Yes or -No; empty: BracketsAuto

	// Profile says how to read the screen; empty: generic. Each pattern, a
	// regular expression, replaces that of the profile; empty: it stays.
	Profile     string
	Composer    string // the row where prompts are typed, the first group what is typed
	Placeholder string // what an empty composer shows in its place
	Dialog      string // what Enter would answer
	Busy        string // what is there only during a turn

	Now func() time.Time // nil: time.Now
}

// leastSettle is the pause that all known harnesses need to tell a key from the
// end of a paste.
const leastSettle = 300 * time.Millisecond

// An Adapter types into one tmux pane. It is safe for concurrent use.
type Adapter struct {
	options Options
	profile profile
	glob    string        // of the transcripts; empty: another proof
	dir     string        // the session's directory; empty: none
	file    string        // of the binding; empty: it is kept in memory
	turn    chan struct{} // held by the one hand-over that types

	mu      sync.Mutex
	binding binding // without a file
}

var _ interface {
	adapter.Adapter
	adapter.Looker
	adapter.Prober
	adapter.Interrupter
	adapter.Policied
	adapter.Sanitiser
} = (*Adapter)(nil)

// New makes the adapter of session s. It contacts nothing. With an empty s.Dir
// the binding lasts as long as the Adapter, long texts are refused, and nothing
// can be looked up. An error names the option that is wrong.
func New(s adapter.Session, o Options) (*Adapter, error) {
	o = o.withDefaults()
	p, err := newProfile(o.Profile, patterns{o.Composer, o.Placeholder, o.Dialog, o.Busy})
	if err != nil {
		return nil, fmt.Errorf("tmux: %w", err)
	}
	p.shell = o.Program != "" && isShell(o.Program)
	a := &Adapter{options: o, profile: p, dir: s.Dir, turn: make(chan struct{}, 1)}
	if err := a.check(); err != nil {
		return nil, fmt.Errorf("tmux: %w", err)
	}
	if s.Dir != "" && o.Bind == "" {
		a.file = filepath.Join(s.Dir, BindingFile)
	}
	return a, nil
}

func (o Options) withDefaults() Options {
	for _, d := range []struct {
		value    *string
		standard string
	}{{&o.Submit, "Enter"}, {&o.Interrupt, "Escape"}, {&o.Confirm, ConfirmScreen}, {&o.Brackets, BracketsAuto}, {&o.Profile, "generic"}} {
		if *d.value == "" {
			*d.value = d.standard
		}
	}
	for _, d := range []struct {
		value    *time.Duration
		standard time.Duration
	}{{&o.Settle, leastSettle}, {&o.Wait, 2 * time.Second}, {&o.TranscriptWait, 10 * time.Second}, {&o.CommandTimeout, 5 * time.Second}} {
		if *d.value == 0 {
			*d.value = d.standard
		}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// keySyntax are the keys that may be pressed: names that tmux knows, never text.
var keySyntax = lazy{pattern: `^((C|M|S)-)*(Enter|KPEnter|Escape|Tab|BTab|Space|F[1-9]|F1[0-2]|[a-z])$`}

// check makes sure of every option that becomes part of a tmux command, and of
// those that depend on one another.
func (a *Adapter) check() error {
	o := &a.options
	for _, err := range []error{checkTarget(o.Target), checkSocket(o.Socket), checkKey(o.Submit), checkKey(o.Interrupt), checkBrackets(o.Brackets)} {
		if err != nil {
			return err
		}
	}
	if o.Settle < 0 || o.Wait < 0 || o.TranscriptWait < 0 || o.CommandTimeout < 0 {
		return errors.New("a time is negative")
	}
	if o.Bind != "" {
		id, err := ParseIdentity(o.Bind)
		if err != nil {
			return err
		}
		if id.Pane != o.Target {
			return fmt.Errorf("bind is for pane %s, target is %s", id.Pane, o.Target)
		}
		a.binding = binding{Version: bindingVersion, Identity: o.Bind}
	}
	glob, err := parseConfirm(o.Confirm)
	a.glob = glob
	return err
}

func checkTarget(v string) error {
	if !targetSyntax.compiled().MatchString(v) {
		return fmt.Errorf("%q is no pane: want %%N, as in #{pane_id}", v)
	}
	return nil
}

func checkSocket(v string) error {
	if strings.ContainsAny(v, "\x00\n") {
		return fmt.Errorf("%q is no name of a socket", v)
	}
	return nil
}

func checkKey(v string) error {
	if !keySyntax.compiled().MatchString(v) {
		return fmt.Errorf("%q is no key: want a name such as Enter, Escape, C-c or M-Enter", v)
	}
	return nil
}

func checkBrackets(v string) error {
	if v != BracketsAuto && v != BracketsYes && v != BracketsNo {
		return fmt.Errorf("bad value %q", v)
	}
	return nil
}

// parseConfirm returns the pattern of the transcripts, if they are the proof.
func parseConfirm(v string) (glob string, err error) {
	if v == ConfirmScreen || v == ConfirmHook {
		return "", nil
	}
	glob, ok := strings.CutPrefix(v, ConfirmTranscript)
	if !ok || !filepath.IsAbs(glob) {
		return "", fmt.Errorf("confirm %q: want %s, %s or %s and a pattern for absolute paths", v, ConfirmScreen, ConfirmHook, ConfirmTranscript)
	}
	if _, err := filepath.Match(glob, ""); err != nil {
		return "", fmt.Errorf("confirm: pattern %q: %w", glob, err)
	}
	return glob, nil
}

// Headless returns false: people read the terminal.
func (a *Adapter) Headless() bool { return false }

// Policy returns Hold: a text that was typed is never typed again by itself.
func (a *Adapter) Policy() adapter.Policy { return adapter.Hold }

// Probe reads the screen. It changes nothing in the pane; the first time, it
// binds the session to it, as Insert does. Gone means that there is no such pane,
// that it is another one now, or that a shell has it. With the state Unknown
// the error, if any, says why nothing could be seen.
func (a *Adapter) Probe(ctx context.Context) (adapter.State, error) {
	v, err := a.look(ctx)
	switch {
	case errors.Is(err, adapter.ErrGone):
		return adapter.Gone, nil
	case err != nil:
		return adapter.Unknown, err
	}
	return v.finding.state(), nil
}

// Interrupt presses the key that stops a turn, whatever is on the screen, if the
// pane is the right one, lives, and is not in copy mode. Nil means that the key
// was sent.
func (a *Adapter) Interrupt(ctx context.Context) error {
	v, err := a.look(ctx)
	if err != nil {
		return err
	}
	if v.finding == foundShell {
		return nil
	}
	return v.press(ctx, a.options.Target, v.identity.guard(v.program), a.options.Interrupt)
}

// Identity returns the identity of the pane that the session is bound to, and
// binds it the first time. The errors are those of Insert.
func (a *Adapter) Identity(ctx context.Context) (Identity, error) {
	v, err := a.look(ctx)
	return v.identity, err
}
