package adapter

import (
	"context"
	"io"
)

// Opened is an adapter together with the policy that its session follows. Its
// methods answer for optional abilities that the adapter does not have, so that
// a caller need not ask for them one by one.
type Opened struct {
	Name    string // the kind's name
	Adapter Adapter
	Policy  Policy
}

// Use returns an adapter that was not opened through a [Registry], with the
// policy that the adapter itself prefers.
func Use(name string, a Adapter) Opened {
	o := Opened{Name: name, Adapter: a}
	if p, ok := a.(Policied); ok {
		o.Policy = p.Policy()
	}
	return o
}

// Lookup asks the adapter's [Looker]; without one, and after an error, the
// answer is CannotTell.
func (o Opened) Lookup(ctx context.Context, mid string) (Presence, error) {
	l, ok := o.Adapter.(Looker)
	if !ok {
		return CannotTell, nil
	}
	p, err := l.Lookup(ctx, mid)
	if err != nil {
		return CannotTell, err
	}
	return p, nil
}

// Probe asks the adapter's [Prober]; without one the answer is Unknown, and so it
// is after an error that comes with a state other than Blocked or Gone.
func (o Opened) Probe(ctx context.Context) (State, error) {
	p, ok := o.Adapter.(Prober)
	if !ok {
		return Unknown, nil
	}
	s, err := p.Probe(ctx)
	if err != nil && s != Blocked && s != Gone {
		return Unknown, err
	}
	return s, err
}

// Ready returns the refusal with which a pass can end before it contacts the
// harness at all: an error that is [ErrBlocked] or [ErrGone], with the reason
// that Probe gave. Nil means that Insert decides, as it does for a busy harness
// and for one that cannot be seen.
func (o Opened) Ready(ctx context.Context) error {
	switch s, err := o.Probe(ctx); s {
	case Blocked:
		return Because(ErrBlocked, err)
	case Gone:
		return Because(ErrGone, err)
	}
	return nil
}

// Close releases what the adapter holds, if it is an [io.Closer]. It does not
// end the harness.
func (o Opened) Close() error {
	if c, ok := o.Adapter.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Sanitise returns the text that Insert hands over for text: what the adapter's
// [Sanitiser] says, and without one the text itself.
func (o Opened) Sanitise(text string) string {
	if s, ok := o.Adapter.(Sanitiser); ok {
		return s.Sanitise(text)
	}
	return text
}
