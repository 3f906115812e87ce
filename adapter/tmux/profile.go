package tmux

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A profile is how the screen of one harness is read.
type profile struct {
	composer    *regexp.Regexp // the row where prompts are typed, its first group what is typed; nil: the cursor's row
	placeholder *regexp.Regexp // what an empty composer shows where it is not faint
	dialog      *regexp.Regexp // something that Enter would answer, over several rows
	busy        *regexp.Regexp // what is there only during a turn
	brackets    bool           // it always asks for bracketed paste
	shell       bool           // a shell may be typed into
}

// Patterns hold what a profile leaves to be overridden; each one is a regular
// expression in the syntax of package regexp, or empty.
type patterns struct{ composer, placeholder, dialog, busy string }

const (
	space = `[ \t\x{00a0}]*`
	// A frame of a composer may stand to its left and right.
	frame = `[ \t\x{00a0}│┃|█▌▐▏▕╎╏]*`

	arrowComposer = `^` + frame + `[>❯›](?:[ \x{00a0}](.*?))?` + frame + `$`

	anyPlaceholder = `(?i)^(try "|type (your|a) (message|prompt)|ask anything|ask \w+ to do anything|send a message)`

	anyBusy = `(?i)\besc(ape)?( again)?( to)? (interrupt|cancel|stop)\b|\bctrl[+-]c to (interrupt|stop|cancel)\b`

	arrow  = `[❯›>▸▶→◉]` + space
	number = `\(?[1-9a-z][.)\]:]` + space
	answer = `(?:yes|no|allow|approve|deny|reject|accept|decline|don't|do not|trust|always|never|cancel|abort|proceed)\b`
	option = frame + `(?:` + arrow + `)?(?:` + number + `)?` + answer
	marked = frame + `(?:` + arrow + `(?:` + number + `)?|●?` + space + number + `)` + answer
	below  = `.*\n(?:.*\n)?` // the next row or the one after it

	// A numbered list with an arrow on one entry; answers one below the other; a
	// request to press Enter; a question that wants y, n or a secret.
	anyDialog = `(?i)(?:` +
		`^` + frame + arrow + number + below + frame + number +
		`|^` + frame + number + below + frame + arrow + number +
		`|^` + marked + below + option +
		`|^` + option + below + marked +
		`|\b(?:press|hit) (?:enter|return)\b` +
		`|\benter to (?:confirm|continue|select|approve|accept)\b` +
		`|\ballow once\b.*\b(?:always|reject)\b` +
		`|[\[(]` + space + `y(?:es)?` + space + `/` + space + `n(?:o)?\b[^\])]*[\])]` +
		`|\byes` + space + `/` + space + `no\b|[\[(]y[\])]es\b` +
		`|\b(?:password|passphrase|passcode)\b[^:\n]*:` + space + `$` +
		`)`
)

// known are the patterns of each profile; an empty composer means the row of the
// cursor, and the pattern for arrows where the program hides its cursor.
var known = sync.OnceValue(func() map[string]patterns {
	return map[string]patterns{
		"generic":  {"", anyPlaceholder, anyDialog, anyBusy},
		"claude":   {arrowComposer, anyPlaceholder, anyDialog, anyBusy},
		"codex":    {arrowComposer, anyPlaceholder, anyDialog, anyBusy},
		"gemini":   {arrowComposer, anyPlaceholder, anyDialog, anyBusy},
		"qwen":     {arrowComposer, anyPlaceholder, anyDialog, anyBusy},
		"opencode": {"", anyPlaceholder, anyDialog, anyBusy},
	}
})

// profileNames are those of known.
const profileNames = "claude, codex, gemini, generic, opencode, qwen"

// newProfile compiles the profile with that name, less what is overridden.
func newProfile(name string, over patterns) (profile, error) {
	standard, ok := known()[name]
	if !ok {
		return profile{}, fmt.Errorf("no profile %q: have %s", name, profileNames)
	}
	p := profile{brackets: name != "generic"}
	for _, part := range []struct {
		name               string
		override, standard string
		to                 **regexp.Regexp
	}{
		{"composer", over.composer, standard.composer, &p.composer},
		{"placeholder", over.placeholder, standard.placeholder, &p.placeholder},
		{"dialog", over.dialog, standard.dialog, &p.dialog},
		{"busy", over.busy, standard.busy, &p.busy},
	} {
		text := part.standard
		if part.override != "" {
			text = part.override
		}
		if text == "" {
			continue
		}
		re, err := regexp.Compile("(?m)" + text)
		if err != nil {
			return profile{}, fmt.Errorf("pattern %s: %w", part.name, err)
		}
		*part.to = re
	}
	return p, nil
}

// A lazy pattern is compiled when it is first used: most programs that know this
// adapter never look at a screen, and start without it.
type lazy struct {
	pattern string
	once    sync.Once
	re      *regexp.Regexp
}

func (l *lazy) compiled() *regexp.Regexp {
	l.once.Do(func() { l.re = regexp.MustCompile(l.pattern) })
	return l.re
}

var (
	hiddenCursorComposer = lazy{pattern: arrowComposer}

	// What an idle program shows on the cursor's row: nothing, or a prompt.
	idlePrompt  = lazy{pattern: `(?i)^(>{1,3}|[❯›»→➜λ▶*?]|\S*[$#%>❯›»]|(you|user|prompt|input|message|chat) ?[:>])?$`}
	promptArrow = lazy{pattern: `^(>{1,3}|[❯›»→➜λ▶])[ \x{00a0}]+`}

	// A shell runs what is typed into it. Its prompt is told from the screen of a
	// script that it runs by anything but a bare > on the row.
	shells      = lazy{pattern: `^-?(sh|ash|bash|dash|ksh|mksh|zsh|fish|csh|tcsh|nu|pwsh|elvish|xonsh)$`}
	scriptInput = lazy{pattern: `^>?$`}

	// What harnesses show in the composer for a long paste, squeezed.
	pastedMark = lazy{pattern: `(?i)\[pasted(text|content|~)?[^\]]*\]$`}

	frameOnly = lazy{pattern: `^[ \t\x{00a0}\x{2500}-\x{259f}|]*$`}
	frameLeft = lazy{pattern: `^` + frame}
	framing   = lazy{pattern: `^` + frame + `|` + frame + `$`}
	bordered  = lazy{pattern: `^[ \t\x{00a0}]*[│┃|▌▐▏▕╎╏]`}
)

func isShell(program string) bool { return shells.compiled().MatchString(program) }

// looksLikeDialog reports whether text, standing in a composer, would be taken
// for a dialog.
func (p profile) looksLikeDialog(text string) bool {
	if p.dialog == nil {
		return false
	}
	rows := strings.Split("> "+text, "\n")
	rows = slices.DeleteFunc(rows, frameOnly.compiled().MatchString)
	return p.dialog.MatchString(strings.Join(rows, "\n"))
}
