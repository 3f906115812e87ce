package tmux

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/docket-go/docket/adapter"
)

// Kind is the adapter for an [adapter.Registry]. Its settings are the fields of
// [Options].
var Kind = adapter.Kind{
	Name:     "tmux",
	Doc:      "types into the pane of a program that runs in tmux",
	Settings: settings,
	Open: func(s adapter.Session, v map[string]string) (adapter.Adapter, error) {
		return New(s, Options{
			Target: v["target"], Socket: v["socket"], Bind: v["bind"], Program: v["program"],
			Submit: v["submit"], Interrupt: v["interrupt"], Settle: duration(v["settle"]),
			Confirm: v["confirm"], Wait: duration(v["wait"]), TranscriptWait: duration(v["transcript-wait"]),
			AllowCommands: v["command"] == "allow", RefuseLong: v["long"] == "refuse",
			TypeWhileBusy: v["while-busy"] == "type", Brackets: v["brackets"],
			Profile: v["profile"], Composer: v["composer"], Placeholder: v["placeholder"], Dialog: v["dialog"], Busy: v["busy"],
		})
	},
}

var settings = []adapter.Setting{
	{Name: "target", Required: true, Doc: "the pane, as in #{pane_id}", Allowed: "%N", Canonical: checked(checkTarget)},
	{Name: "socket", Doc: "the tmux server; unset means the one that the command tmux takes", Allowed: "a name (as for tmux -L) or a path (as for tmux -S)", Canonical: canonicalSocket},
	{Name: "bind", Doc: "the identity that the pane must have; unset means the one it has at first use, kept in " + BindingFile, Allowed: "what tmux prints for " + identityFormat, Canonical: checked(checkIdentity)},
	{Name: "program", Doc: "the pane's foreground program; unset means any but a shell that shows its prompt", Allowed: "a name as in #{pane_current_command}"},
	{Name: "submit", Default: "Enter", Doc: "the key that submits", Allowed: "the name of a key, as for tmux send-keys", Canonical: checked(checkKey)},
	{Name: "interrupt", Default: "Escape", Doc: "the key that stops a turn", Allowed: "the name of a key, as for tmux send-keys", Canonical: checked(checkKey)},
	{Name: "settle", Default: "300ms", Doc: "pause between text and submit", Allowed: "a duration of at least 300ms", Canonical: atLeast(leastSettle)},
	{Name: "confirm", Default: ConfirmScreen, Doc: "the proof that the text was taken", Allowed: "screen (weak: on the input line before submit, gone after it), hook (only docket confirm) or transcript:GLOB (strong: the harness wrote it into such a file; ~/ is your home)", Canonical: canonicalConfirm},
	{Name: "wait", Default: "2s", Doc: "how long the screen may take to show the text, and to lose it", Allowed: "a duration", Canonical: atLeast(time.Millisecond)},
	{Name: "transcript-wait", Default: "10s", Doc: "how long a transcript may take to hold the text", Allowed: "a duration", Canonical: atLeast(time.Millisecond)},
	{Name: "command", Default: "tag", Doc: "what becomes of a text that starts with one of " + commandRunes, Allowed: "tag (it gets a tag in front and is conversation) or allow (the harness may run it)", Canonical: oneOf("tag", "allow")},
	{Name: "long", Default: "file", Doc: "what becomes of a text of more than 16 KiB, or one that would look like a dialog", Allowed: "file (it is put into the session's directory and a sentence with the path is typed) or refuse", Canonical: oneOf("file", "refuse")},
	{Name: "while-busy", Default: "refuse", Doc: "what becomes of a text while a turn is going on", Allowed: "refuse (it is tried later) or type (the harness queues it, or merges it)", Canonical: oneOf("refuse", "type")},
	{Name: "brackets", Default: BracketsAuto, Doc: "whether the program asks for bracketed paste; without it a text of several lines, or with tabs, is refused", Allowed: "auto (find out), yes or no", Canonical: checked(checkBrackets)},
	{Name: "profile", Default: "generic", Doc: "how to read the screen", Allowed: "one of " + profileNames, Canonical: checked(func(v string) error { _, err := newProfile(v, patterns{}); return err })},
	{Name: "composer", Doc: "the row where prompts are typed, its first group what is typed", Allowed: pattern, Canonical: checked(checkPattern)},
	{Name: "placeholder", Doc: "what an empty composer shows in place of a text", Allowed: pattern, Canonical: checked(checkPattern)},
	{Name: "dialog", Doc: "what Enter would answer, in the last rows of the screen", Allowed: pattern, Canonical: checked(checkPattern)},
	{Name: "busy", Doc: "what the last rows of the screen show only during a turn", Allowed: pattern, Canonical: checked(checkPattern)},
}

const pattern = "a regular expression (syntax of Go), instead of the profile's"

// checked makes a Canonical of a check that changes nothing.
func checked(check func(string) error) func(string) (string, error) {
	return func(v string) (string, error) { return v, check(v) }
}

func checkIdentity(v string) error { _, err := ParseIdentity(v); return err }

func checkPattern(v string) error { _, err := regexp.Compile(v); return err }

func oneOf(words ...string) func(string) (string, error) {
	return checked(func(v string) error {
		for _, w := range words {
			if v == w {
				return nil
			}
		}
		return fmt.Errorf("bad value %q", v)
	})
}

func atLeast(least time.Duration) func(string) (string, error) {
	return checked(func(v string) error {
		d, err := time.ParseDuration(v)
		if err == nil && d < least {
			err = fmt.Errorf("%v is less than %v", d, least)
		}
		return err
	})
}

// duration reads a value that its Canonical has accepted.
func duration(v string) time.Duration {
	d, _ := time.ParseDuration(v)
	return d
}

// canonicalSocket makes a path absolute and leaves a name alone.
func canonicalSocket(v string) (string, error) {
	if err := checkSocket(v); err != nil || !strings.Contains(v, "/") {
		return v, err
	}
	return filepath.Abs(v)
}

// canonicalConfirm makes the pattern of the transcripts absolute.
func canonicalConfirm(v string) (string, error) {
	if glob, ok := strings.CutPrefix(v, ConfirmTranscript); ok {
		if glob == "" {
			return v, errors.New("no pattern for the transcripts")
		}
		if rest, home := strings.CutPrefix(glob, "~/"); home {
			dir, err := os.UserHomeDir()
			if err != nil {
				return v, err
			}
			glob = filepath.Join(dir, rest)
		}
		abs, err := filepath.Abs(glob)
		if err != nil {
			return v, err
		}
		v = ConfirmTranscript + abs
	}
	_, err := parseConfirm(v)
	return v, err
}
