package tmux

import (
	"context"
	"errors"
	"fmt"
)

// Values of [Options.Brackets].
const (
	BracketsAuto = "auto"
	BracketsYes  = "yes"
	BracketsNo   = "no"
)

var (
	errNoBrackets      = errors.New("the program has not asked for bracketed paste, so that each line of the text would be a prompt of its own: send one line, or a program that asks for it")
	errUnknownBrackets = errors.New("this tmux cannot tell whether the program has asked for bracketed paste, without which each line would be a prompt of its own: set brackets=yes if it has, or a profile")
)

// brackets refuses unless the program in the pane has asked for bracketed paste.
// The strongest source that knows counts: the setting, the server, a look
// through a client of our own, the profile.
func (a *Adapter) brackets(ctx context.Context, v view) error {
	answer := v.snapshot.brackets
	switch a.options.Brackets {
	case BracketsYes:
		answer = yes
	case BracketsNo:
		answer = no
	}
	if answer == unknown {
		answer = v.seeBrackets(ctx, v.snapshot)
	}
	if answer == unknown && a.profile.brackets {
		answer = yes
	}
	switch answer {
	case yes:
		return nil
	case no:
		return blocked(fmt.Errorf("pane %s: %w", a.options.Target, errNoBrackets))
	}
	return blocked(fmt.Errorf("pane %s: %w", a.options.Target, errUnknownBrackets))
}
