package tmux

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// What the server prints about a guarded command.
const (
	done    = "DOCKET-DONE"
	refused = "DOCKET-REFUSED"
)

// errGuard means that the server found the guard of a command false, and did
// nothing.
var errGuard = errors.New("the pane changed at the last moment: it is tried again later")

// paste puts text into the pane as one bracketed paste, if guard holds at that
// moment in the server. An [errGuard] promises that nothing was typed; so does
// a [*failure] that had not started. The buffer is gone in every case in which
// the server still answers.
func (s server) paste(ctx context.Context, pane, guard, text string) error {
	buffer := fmt.Sprintf("docket-%d-%s", os.Getpid(), strings.ToLower(rand.Text()))
	out, err := s.run(ctx, text,
		"load-buffer", "-b", buffer, "-", ";",
		"if-shell", "-F", "-t", pane, guard,
		"paste-buffer -p -r -d -b "+buffer+" -t "+pane+" ; display-message -p "+done,
		"delete-buffer -b "+buffer+" ; display-message -p "+refused)
	answer := guarded(out, err)
	if answer != nil && !errors.Is(answer, errGuard) {
		s.discard(ctx, buffer)
	}
	return answer
}

// discard removes a buffer that an interrupted paste may have left behind.
func (s server) discard(ctx context.Context, buffer string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_, _ = s.run(ctx, "", "delete-buffer", "-b", buffer)
}

// press sends one key, if guard holds at that moment in the server. The errors
// are those of paste.
func (s server) press(ctx context.Context, pane, guard, key string) error {
	return guarded(s.run(ctx, "",
		"if-shell", "-F", "-t", pane, guard,
		"send-keys -t "+pane+" "+key+" ; display-message -p "+done,
		"display-message -p "+refused))
}

// guarded reads what a guarded command printed. Words on the screen or an exit
// status prove nothing, only these answers do.
func guarded(out string, err error) error {
	switch strings.TrimSpace(out) {
	case done:
		return nil
	case refused:
		return errGuard
	}
	if err == nil {
		err = fmt.Errorf("tmux: cannot read the answer %q of the server", firstLine(out))
	}
	return err
}
