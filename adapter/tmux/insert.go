package tmux

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock/step"
)

// pollEvery is how often the screen and the transcripts are looked at while a
// change is awaited.
const pollEvery = 50 * time.Millisecond

// Insert types p into the pane and submits it; see the package comment for how.
//
// Nil means that the proof which was asked for was seen. A refusal means that
// nothing was typed: it is [adapter.ErrBusy], [adapter.ErrBlocked],
// [adapter.ErrGone], [ErrNoProgram], [ErrNoAnswer], [ErrText] or the error of
// ctx. Every other error is unconfirmed and says whether the text was submitted.
// Insert may be called at the same time by any goroutines; one of them types at
// a time. A process that dies inside leaves what the package comment lists.
func (a *Adapter) Insert(ctx context.Context, p adapter.Prompt) error {
	typed, err := a.prepare(p.Text)
	if err != nil {
		return adapter.Refuse(err)
	}
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return adapter.Refuse(ctx.Err())
	}
	v, err := a.ready(ctx, typed)
	if err != nil {
		return adapter.Refuse(err)
	}
	proof, err := a.beginProof(p.MID, typed)
	if err != nil {
		return adapter.Refuse(err)
	}
	step.At("tmux: about to paste")
	if err := v.paste(ctx, a.options.Target, v.identity.guard(v.program), typed.text); err != nil {
		return a.notPasted(err)
	}
	step.At("tmux: pasted")
	if err := a.submit(ctx, v, typed, proof); err != nil {
		return adapter.Unconfirm(err)
	}
	return nil
}

// ready returns the pane as it is right before the paste, if typed may go there.
func (a *Adapter) ready(ctx context.Context, typed prepared) (view, error) {
	v, err := a.free(ctx)
	if err != nil || !typed.brackets {
		return v, err
	}
	if err := a.brackets(ctx, v); err != nil {
		return view{}, err
	}
	return a.free(ctx)
}

// free returns the pane if a text may be typed there now.
func (a *Adapter) free(ctx context.Context) (view, error) {
	v, err := a.look(ctx)
	if err != nil {
		return view{}, err
	}
	if v.finding == foundBusy && a.options.TypeWhileBusy {
		return v, nil
	}
	return v, v.obstacle(a.options.Target)
}

// notPasted sorts the errors of a paste by what they prove.
func (a *Adapter) notPasted(err error) error {
	var f *failure
	if errors.Is(err, errGuard) || errors.As(err, &f) && !f.started {
		return busy(fmt.Errorf("pane %s: %w", a.options.Target, err))
	}
	return adapter.Unconfirm(fmt.Errorf("pane %s: the text may have been typed: %w: look at the pane", a.options.Target, err))
}

// submit waits until the typed text stands on the screen, presses Enter and
// waits for the proof. All its errors come after the text was typed.
func (a *Adapter) submit(ctx context.Context, v view, typed prepared, proof proof) error {
	pane := a.options.Target
	seen, err := a.awaitTyped(ctx, v, typed)
	if err != nil {
		return fmt.Errorf("the text was typed into pane %s and not submitted: %w", pane, err)
	}
	step.At("tmux: about to submit")
	if err := v.press(ctx, pane, v.identity.guard(v.program), a.options.Submit); errors.Is(err, errGuard) {
		return fmt.Errorf("the text was typed into pane %s and not submitted: the pane changed before %s", pane, a.options.Submit)
	} else if err != nil {
		return fmt.Errorf("the text was typed into pane %s, perhaps not submitted: %w", pane, err)
	}
	step.At("tmux: submitted")
	if err := a.awaitProof(ctx, v, typed, seen, proof); err != nil {
		return fmt.Errorf("the text was typed into pane %s and submitted: %w", pane, err)
	}
	return nil
}

// awaitTyped lets the harness settle and then waits until the text, or the mark
// for a long paste, is on the input line. It is no error if that is never seen,
// but it is one if Enter must not be pressed.
func (a *Adapter) awaitTyped(ctx context.Context, v view, typed prepared) (seen bool, err error) {
	if err := pause(ctx, a.options.Settle); err != nil {
		return false, err
	}
	err = a.poll(ctx, a.options.Wait, func() (bool, error) {
		now, err := a.again(ctx, v)
		if err != nil {
			return false, err
		}
		if now.stopsEnter() {
			return false, now.describe(a.options.Target)
		}
		seen = now.input != v.input && typed.standsIn(now.input)
		return seen, nil
	})
	return seen, err
}

// again reads the pane of v once more; any other pane is an error.
func (a *Adapter) again(ctx context.Context, v view) (view, error) {
	snap, err := v.capture(ctx, a.options.Target)
	if err != nil {
		return view{}, err
	}
	if snap.identity != v.identity {
		return view{}, fmt.Errorf("pane %s is another pane now", a.options.Target)
	}
	return view{v.server, snap, a.profile.read(snap)}, nil
}

// poll calls look until it is done, fails, or the time is up, which is no error.
func (a *Adapter) poll(ctx context.Context, bound time.Duration, look func() (done bool, err error)) error {
	up := time.NewTimer(bound)
	defer up.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if done, err := look(); done || err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-up.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// pause waits for d or for the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
