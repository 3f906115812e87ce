package opencode

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock/step"
)

// Insert hands p over and waits until opencode shows it, and, unless it may join a turn,
// until its turn has begun or three seconds are over; it does not wait for the turn's end.
//
// Nil promises that opencode has the message, by this call or an earlier one. An error
// that is [adapter.ErrRefused] means that nothing of it was sent, or that opencode
// declined it: a turn is at work ([adapter.ErrBusy]), that turn waits for a person
// ([adapter.ErrBlocked]), the server or the session is not there ([adapter.ErrGone]). An
// error that is [adapter.ErrUnconfirmed] means that it was sent, now or earlier, and is
// not shown.
//
// It may be called by any number of goroutines and processes. If the process dies inside,
// the same call again brings it to the same end.
func (a *Adapter) Insert(ctx context.Context, p adapter.Prompt) error {
	begun, err := a.sentBefore(p.MID)
	if err == nil {
		err = a.handOver(ctx, p, begun)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, adapter.ErrUnconfirmed):
		return fmt.Errorf("opencode: %w", err)
	case begun: // an earlier request may still be on its way
		return adapter.Unconfirm(fmt.Errorf("opencode: it was sent before and is not shown yet: %w", err))
	}
	return adapter.Refuse(fmt.Errorf("opencode: %w", err))
}

// sentBefore reports whether a message is marked as begun.
func (a *Adapter) sentBefore(mid string) (bool, error) {
	session, ok, err := a.known()
	if err != nil || !ok {
		return false, err
	}
	return a.notes.begun(idOf(session, mid))
}

// handOver brings p to opencode unless it is there; begun says that it was sent before. An
// error that is not [adapter.ErrUnconfirmed] means that this call sent nothing, or that
// opencode declined.
func (a *Adapter) handOver(ctx context.Context, p adapter.Prompt, begun bool) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("not begun: %w", err)
	}
	session, err := a.ensureSession(ctx)
	if err != nil {
		return fmt.Errorf("session: %w", advised(err))
	}
	id := idOf(session, p.MID)
	shown, err := a.shows(ctx, session, id)
	if err != nil {
		return advised(err)
	}
	if shown {
		a.notes.settle(id)
		return nil
	}
	if err := a.free(ctx, session); err != nil {
		return err
	}
	if err := a.serves(ctx); err != nil {
		return err
	}
	return a.send(ctx, session, id, p, begun)
}

// send marks p as begun, sends it, and waits until opencode shows it.
func (a *Adapter) send(ctx context.Context, session, id string, p adapter.Prompt, begun bool) error {
	if err := a.notes.begin(id); err != nil {
		return err
	}
	step.At("opencode: begun")
	err := a.call(ctx, http.MethodPost, "/session/"+session+"/prompt_async", nil, a.question(id, p), nil)
	step.At("opencode: sent")
	if declined(err) {
		if !begun { // the mark of an earlier request stays
			a.notes.settle(id)
		}
		return advised(err)
	}
	if err := a.awaitShown(ctx, session, id, err); err != nil {
		return adapter.Unconfirm(err)
	}
	step.At("opencode: shown")
	a.notes.settle(id)
	if !a.options.Join {
		a.awaitTurn(ctx, session, id)
	}
	return nil
}

// declined reports whether an error of the request proves that nothing of it is left.
func declined(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Status/100 == 4 && status.Status != http.StatusRequestTimeout
	}
	return errors.Is(err, adapter.ErrGone)
}

// free refuses unless the session is idle.
func (a *Adapter) free(ctx context.Context, session string) error {
	if a.options.Join {
		return nil
	}
	now, busy, err := a.activity(ctx, session)
	if err != nil || !busy {
		return advised(err)
	}
	question, err := a.asks(ctx, session)
	switch {
	case err != nil:
		return advised(err)
	case question != "":
		return adapter.Because(adapter.ErrBlocked, errors.New(question))
	case now.Message != "":
		return adapter.Because(adapter.ErrBusy, fmt.Errorf("session %s: the model fails and is asked again: %s", session, said([]byte(now.Message))))
	}
	return adapter.Because(adapter.ErrBusy, fmt.Errorf("session %s: a turn is at work: it is tried again later", session))
}

// serves refuses unless the server knows the agent and the model that are set: opencode
// accepts others and then loses the message, or never answers in that session again.
func (a *Adapter) serves(ctx context.Context) error {
	if name := a.options.Agent; name != "" {
		if err := a.check(ctx, "/agent", name, a.agents); err != nil {
			return err
		}
	}
	if name := a.options.Model; name != "" {
		return a.check(ctx, "/config/providers", name, a.models)
	}
	return nil
}

// check asks once for the names that the server has and finds name among them.
func (a *Adapter) check(ctx context.Context, path, name string, list func(context.Context, string) ([]string, error)) error {
	if _, ok := a.checked.Load(path); ok {
		return nil
	}
	names, err := list(ctx, path)
	if err != nil {
		return advised(err)
	}
	if !slices.Contains(names, name) {
		return adapter.Because(adapter.ErrBlocked, fmt.Errorf("the server has no %s: set one of %s", name, strings.Join(names, ", ")))
	}
	a.checked.Store(path, true)
	return nil
}

func (a *Adapter) agents(ctx context.Context, path string) (names []string, err error) {
	var all []struct{ Name string }
	err = a.call(ctx, http.MethodGet, path, nil, nil, &all)
	for _, one := range all {
		names = append(names, one.Name)
	}
	return names, err
}

func (a *Adapter) models(ctx context.Context, path string) (names []string, err error) {
	var all struct {
		Providers []struct {
			ID     string
			Models map[string]struct{}
		}
	}
	err = a.call(ctx, http.MethodGet, path, nil, nil, &all)
	for _, provider := range all.Providers {
		for model := range provider.Models {
			names = append(names, provider.ID+"/"+model)
		}
	}
	slices.Sort(names)
	return names, err
}

// lastLook bounds the look at what became of a request that has no answer.
const lastLook = 5 * time.Second

// awaitShown waits until opencode shows a message that was sent; sent is the error of
// the request, after which there is one look only.
func (a *Adapter) awaitShown(ctx context.Context, session, id string, sent error) error {
	if sent != nil {
		ctx, cancel := context.WithTimeout(ctx, lastLook)
		defer cancel()
		if shown, err := a.shows(ctx, session, id); err != nil || !shown {
			return sent
		}
		return nil
	}
	var last error
	shown := poll(ctx, a.options.Timeout, func() (ok bool) {
		ok, last = a.shows(ctx, session, id)
		return ok
	})
	switch {
	case shown:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case last != nil:
		return last
	}
	return fmt.Errorf("session %s: accepted, but message msg_%s is not shown after %s: see opencode's log", session, id, a.options.Timeout)
}

// beginning bounds the wait for a turn to begin. One that cannot begin, as with a model
// that opencode does not know, is not waited for any longer.
const beginning = 3 * time.Second

// awaitTurn waits until the turn of a message that is shown has begun.
func (a *Adapter) awaitTurn(ctx context.Context, session, id string) {
	poll(ctx, beginning, func() bool {
		if _, busy, err := a.activity(ctx, session); err != nil || busy {
			return true
		}
		newest, err := a.latest(ctx, session)
		return err != nil || newest.Info.ID != "msg_"+id
	})
}

// poll asks again and again, less and less often, until done says true, and reports
// whether it did so before the context and the bound ended. A bound below zero is none.
func poll(ctx context.Context, bound time.Duration, done func() bool) bool {
	if bound > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, bound)
		defer cancel()
	}
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 250*time.Millisecond) {
		if done() {
			return true
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return false
		}
	}
}
