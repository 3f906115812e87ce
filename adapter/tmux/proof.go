package tmux

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Ways to confirm a hand-over, the values of [Options.Confirm].
const (
	ConfirmScreen     = "screen"      // the text was on the input line before Enter, and is not after it
	ConfirmHook       = "hook"        // never by the adapter: a hook of the harness calls docket confirm
	ConfirmTranscript = "transcript:" // with a pattern for paths behind it: the harness wrote the text into such a file
)

// A proof is what is known before the paste and needed after it.
type proof struct{ transcript *attempt }

// beginProof prepares the proof that was asked for.
func (a *Adapter) beginProof(mid string, typed prepared) (proof, error) {
	if typed.file != "" {
		if err := replaceFile(typed.file, []byte(typed.content)); err != nil {
			return proof{}, fmt.Errorf("text beside the pane: %w", err)
		}
	}
	if a.glob == "" {
		return proof{}, nil
	}
	t, err := a.beginAttempt(mid, typed.text)
	return proof{t}, err
}

// awaitProof waits for the proof. The text was submitted.
func (a *Adapter) awaitProof(ctx context.Context, v view, typed prepared, seen bool, p proof) error {
	switch {
	case a.options.Confirm == ConfirmHook:
		return errors.New("its arrival is confirmed by a hook that calls docket confirm, or by hand")
	case p.transcript != nil:
		return a.awaitTranscript(ctx, p.transcript)
	case !seen:
		return errors.New("it was never seen on the input line: look at the pane and use docket confirm, or revoke it")
	}
	gone := false
	err := a.poll(ctx, a.options.Wait, func() (bool, error) {
		now, err := a.again(ctx, v)
		if err != nil {
			return false, err
		}
		switch now.finding {
		case foundDead, foundMode, foundInputOff, foundNoComposer:
			return false, nil
		}
		gone = now.input == v.input || !typed.standsIn(now.input)
		return gone, nil
	})
	if err == nil && !gone {
		err = fmt.Errorf("it was still on the input line after %v: submit it by hand and use docket confirm", a.options.Wait)
	}
	return err
}

// awaitTranscript waits until the text is in a transcript.
func (a *Adapter) awaitTranscript(ctx context.Context, t *attempt) error {
	found := false
	err := a.poll(ctx, a.options.TranscriptWait, func() (_ bool, err error) {
		found, err = t.arrived(a.glob)
		return found, err
	})
	if err == nil && !found {
		err = fmt.Errorf("no transcript that matches %s holds it after %v: look at the pane and use docket confirm, or revoke it",
			a.glob, a.options.TranscriptWait.Round(time.Millisecond))
	}
	return err
}
