package opencode

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/docket-go/docket/adapter"
)

// Lookup asks opencode for the message: Present if it shows it; Absent if it does not
// and no hand-over was begun that is not disproven; CannotTell otherwise. As long as
// opencode's session was not made, everything is Absent.
//
// It may be called at the same time by any number of goroutines and processes, and
// changes nothing.
func (a *Adapter) Lookup(ctx context.Context, mid string) (adapter.Presence, error) {
	session, ok, err := a.known()
	if err != nil {
		return adapter.CannotTell, fmt.Errorf("opencode: %w", err)
	}
	if !ok {
		return adapter.Absent, nil
	}
	id := idOf(session, mid)
	begun, err := a.notes.begun(id) // before the question: the mark goes only after the proof
	if err != nil {
		return adapter.CannotTell, fmt.Errorf("opencode: %w", err)
	}
	shown, err := a.shows(ctx, session, id)
	switch {
	case err != nil:
		return adapter.CannotTell, fmt.Errorf("opencode: %w", advised(err))
	case shown:
		return adapter.Present, nil
	case begun:
		return adapter.CannotTell, nil
	}
	return adapter.Absent, nil
}

// known returns opencode's session if it is set or was kept.
func (a *Adapter) known() (session string, ok bool, err error) {
	if a.options.Session != "" {
		return a.options.Session, true, nil
	}
	return a.notes.session()
}

// shows reports whether opencode has the message with that id, with its part.
func (a *Adapter) shows(ctx context.Context, session, id string) (bool, error) {
	var m message
	err := a.call(ctx, http.MethodGet, "/session/"+session+"/message/msg_"+id, nil, nil, &m)
	if notFound(err) {
		return false, nil
	}
	return err == nil && len(m.Parts) > 0, err
}

// message is what opencode shows of a message.
type message struct {
	Info struct {
		ID       string
		Role     string
		ParentID string
	}
	Parts []struct{ ID string }
}

// activity is what opencode says of a session that is not idle.
type activity struct {
	Type    string
	Message string
}

// activity returns what a session is doing; ok is false if it is idle.
func (a *Adapter) activity(ctx context.Context, session string) (now activity, ok bool, err error) {
	var all map[string]activity
	err = a.call(ctx, http.MethodGet, "/session/status", nil, nil, &all)
	now, ok = all[session]
	return now, ok && now.Type != "idle", err
}

// asks returns what opencode waits for a person to answer in a session, or "".
func (a *Adapter) asks(ctx context.Context, session string) (string, error) {
	for _, what := range []string{"permission", "question"} {
		var all []struct {
			SessionID  string
			Permission string
		}
		if err := a.call(ctx, http.MethodGet, "/"+what, nil, nil, &all); err != nil {
			return "", err
		}
		for _, one := range all {
			if one.SessionID == session {
				return fmt.Sprintf("opencode asks a %s in session %s: answer it there, or interrupt the turn", what, session), nil
			}
		}
	}
	return "", nil
}

// Probe reports Busy while a turn is at work, Blocked while that turn waits for a person
// to answer a question, Gone if no server is there, and Idle otherwise. It says no more
// than Unknown, with an error, if the server does not answer as it should.
func (a *Adapter) Probe(ctx context.Context) (adapter.State, error) {
	session, _, err := a.known()
	if err != nil {
		return adapter.Blocked, fmt.Errorf("opencode: %w", err)
	}
	_, busy, err := a.activity(ctx, session)
	if err == nil && busy && !a.options.Join {
		var question string
		if question, err = a.asks(ctx, session); question != "" {
			return adapter.Blocked, fmt.Errorf("opencode: %s", question)
		}
	}
	switch {
	case err != nil:
		err = fmt.Errorf("opencode: %w", advised(err))
		return stateOf(err), err
	case busy:
		return adapter.Busy, nil
	}
	return adapter.Idle, nil
}

// Interrupt asks opencode to stop the turn that is at work. Messages that joined that
// turn stay in opencode and get no answer until the next one.
func (a *Adapter) Interrupt(ctx context.Context) error {
	session, ok, err := a.known()
	if err == nil && ok {
		err = a.call(ctx, http.MethodPost, "/session/"+session+"/abort", nil, struct{}{}, nil)
	}
	if err != nil {
		return fmt.Errorf("opencode: %w", advised(err))
	}
	return nil
}

// latest returns the newest message of a session, if it has any.
func (a *Adapter) latest(ctx context.Context, session string) (message, error) {
	var all []message
	err := a.call(ctx, http.MethodGet, "/session/"+session+"/message", url.Values{"limit": {"1"}}, nil, &all)
	if err != nil || len(all) == 0 {
		return message{}, err
	}
	return all[len(all)-1], nil
}

// stateOf reads the state of the harness from an error.
func stateOf(err error) adapter.State {
	switch {
	case errors.Is(err, adapter.ErrGone):
		return adapter.Gone
	case errors.Is(err, adapter.ErrBlocked):
		return adapter.Blocked
	}
	return adapter.Unknown
}
