package main

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/timeline/session"
)

// An advised error has its own words for people.
type advised struct {
	text string // what is wrong and what to do
	err  error  // what statusOf looks at
}

func (a *advised) Error() string { return a.text }
func (a *advised) Unwrap() error { return a.err }

// words returns what a person is told about err: one line, without a full stop,
// ending in what to do.
func words(subject string, err error) string {
	var a *advised
	if errors.As(err, &a) {
		return a.text
	}
	r := ruleOf(err)
	own := ownWords(subject, err)
	if r == nil || r.say == "" {
		return own
	}
	return strings.NewReplacer("{id}", subject, "{cause}", own, "{setting}", settingIn(err)).Replace(r.say)
}

// settingIn is the name of the setting that err is about.
func settingIn(err error) string {
	var wrong *adapter.SettingError
	if errors.As(err, &wrong) {
		return wrong.Setting
	}
	return "NAME"
}

// explained gives an error of the verb the words that need a look at the store: a
// session that was closed is no mistyped one, and of one that is, the right name may be
// known.
func (c *call) explained(err error) error {
	var told *advised
	if !errors.Is(err, session.ErrNotFound) || errors.As(err, &told) {
		return err
	}
	id := c.report.subject
	if s, open := c.store.Open(id); open == nil {
		s.Release() // it is another one that is missing
		return err
	}
	if _, was, unread := c.store.Closed(id); unread != nil || !was {
		if meant := c.meant(id); meant != "" {
			err = &advised{"no such session: did you mean " + meant + "? else make it with docket new " + id + ", or see docket ls", err}
		}
		return err
	}
	return &advised{"it was closed: docket new " + id + " makes another session with this id, or see docket ls", err}
}

// ownWords returns the text of err as it reads behind "docket: verb subject: ":
// without what that says already, and without the names of the packages that the
// errors inside begin with. Other text, such as what an agent printed, stays.
func ownWords(subject string, err error) string {
	text := err.Error()
	for e := range wrapped(err) {
		said := e.Error()
		if short := withoutObject(subject, said); short != said {
			text = replaceWhole(text, said, short)
		}
	}
	return strings.TrimRight(text, ".\n")
}

// replaceWhole replaces said by short where it stands by itself in text, and is not
// the end of a longer word, such as the name of a file.
func replaceWhole(text, said, short string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, said)
		if i < 0 {
			return b.String() + text
		}
		b.WriteString(text[:i])
		if b.Len() == 0 || strings.ContainsRune(" \n(", rune(b.String()[b.Len()-1])) {
			b.WriteString(short)
		} else {
			b.WriteString(said)
		}
		text = text[i+len(said):]
	}
}

// withoutObject cuts from the front of text what a reader does not need.
func withoutObject(subject, text string) string {
	said := []string{"session: ", "timeline: ", "segment: ", "queue: ", "dispatch: ", "adapter: ", "compose: ", "lock: ", "turn: ", "host: ", "acp: ", "fleet: ", "watching: "}
	if subject != "" {
		said = append(said, "send to session "+subject+": ", "repair session "+subject+": ", "session "+subject+": ")
	}
	for i := 0; i < len(said); i++ {
		if short, found := strings.CutPrefix(text, said[i]); found {
			text, i = short, -1
		}
	}
	return text
}

// wrapped yields err and every error inside it, the outer ones first.
func wrapped(err error) iter.Seq[error] {
	return func(yield func(error) bool) { walk(err, yield) }
}

func walk(err error, yield func(error) bool) bool {
	if err == nil {
		return true
	}
	if !yield(err) {
		return false
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return walk(e.Unwrap(), yield)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			if !walk(inner, yield) {
				return false
			}
		}
	}
	return true
}

// interrupted says for a verb what is known of its work after an interruption. The
// other verbs change nothing, or what they did may be done again.
var interrupted = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"send":    "interrupted before the message was accepted: nothing was sent",
		"new":     unknownSession,
		"set":     "interrupted: see docket show {id} for whether it was done",
		"archive": unknownSession, "retire": unknownSession, "close": unknownSession,
		"declare": undeclared, "active": undeclared, "idle": undeclared, "ask": undeclared,
		"park": undeclared, "done": undeclared, "review": undeclared, "error": undeclared,
		"confirm": unknownMessage, "revoke": unknownMessage,
		"permit": "interrupted: see docket permit {id} for what is still asked",
		"drain":  "interrupted: see docket pending for what is still owed",
		"watch":  unknownWatch, "unwatch": unknownWatch,
	}
})

const (
	unknownSession = "interrupted: see docket ls for whether it was done"
	undeclared     = "interrupted: see docket log {id} for whether it was recorded"
	unknownWatch   = "interrupted: see docket watch {id} for whether it was done"
	unknownMessage = "interrupted: see docket state {id} MID for what became of the message"
)

// calledOff reports that err says no more than that the verb was interrupted.
func calledOff(err error) bool {
	r := ruleOf(err)
	return r != nil && r.is == context.Canceled
}
