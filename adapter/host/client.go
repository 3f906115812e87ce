package host

import (
	"context"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock/step"
)

// Client is the adapter that hands prompts to the broker of a session. It keeps no
// connection, so that it need not be closed, and is safe for concurrent use.
type Client struct{ dir string }

// NewClient returns the adapter for the session whose directory dir is. Nothing is
// contacted.
func NewClient(dir string) *Client { return &Client{dir} }

// KindOf returns a kind of adapter, for an [adapter.Registry], whose sessions have a
// host. The name is what sessions say; the agent behind the host is the host's affair.
func KindOf(name, doc string) adapter.Kind {
	return adapter.Kind{Name: name, Doc: doc, Open: func(s adapter.Session, _ map[string]string) (adapter.Adapter, error) {
		if s.Dir == "" {
			return nil, errors.New("host: the session has no directory")
		}
		return NewClient(s.Dir), nil
	}}
}

// Headless reports true: nobody reads the terminal of an agent behind a host.
func (*Client) Headless() bool { return true }

// Insert hands p to the broker and waits until the agent provably has it.
//
// Nil promises that. A refusal says why nothing of p reached the agent: no host
// ([ErrNoHost]), one that is stopped or stuck ([ErrSilent]), a turn that is open or not
// yet cleaned up after ([adapter.ErrBusy]), no recorder ([adapter.ErrBlocked]), an agent
// that does not run ([adapter.ErrGone]), a host of another version ([ErrVersion]). It is
// unconfirmed when the connection or ctx ended between the request and the answer, or the
// host became silent ([ErrSilent]); [Client.Lookup] then finds out. If
// the process dies inside, the prompt is handed over if its request was complete,
// and not at all otherwise.
func (c *Client) Insert(ctx context.Context, p adapter.Prompt) error {
	if err := fits(p); err != nil {
		return adapter.Refuse(err)
	}
	w, err := c.hello(ctx)
	if err != nil {
		return refusal(err)
	}
	defer w.close()
	ctx, stop := c.attended(ctx)
	defer stop()
	defer w.until(ctx)()
	step.At("adapter/host: greeted")
	if err := w.write(promptOf(promptFrame, "", p)); err != nil {
		return adapter.Refuse(c.ended(ctx, err)) // no whole line arrived
	}
	step.At("adapter/host: asked")
	f, err := w.read()
	if err != nil {
		return adapter.Unconfirm(c.ended(ctx, err))
	}
	step.At("adapter/host: answered")
	switch f.Type {
	case takenFrame:
		return nil
	case refusedFrame:
		return adapter.Because(reasons()[f.Reason], errors.New(f.Text))
	case unconfirmedFrame:
		return adapter.Unconfirm(errors.New(f.Text))
	}
	if err := f.told(); err != nil {
		return adapter.Unconfirm(err)
	}
	return adapter.Unconfirm(fmt.Errorf("%w: %s for an answer", ErrProtocol, f.Type))
}

// fits refuses what no line can carry.
func fits(p adapter.Prompt) error {
	attributes := 0
	for name, value := range p.Attributes {
		attributes += len(name) + len(value)
		if !utf8.ValidString(name) || !utf8.ValidString(value) {
			return errors.New("host: an attribute is not valid UTF-8")
		}
	}
	switch {
	case len(p.Text) > MaxTextBytes || attributes > MaxTextBytes/2:
		return fmt.Errorf("%w: a text of %d and attributes of %d bytes: shorten it to %d and %d, or name a file",
			ErrTooLong, len(p.Text), attributes, MaxTextBytes, MaxTextBytes/2)
	case !utf8.ValidString(p.Text) || !utf8.ValidString(p.MID) || !utf8.ValidString(p.Session) || !utf8.ValidString(p.From):
		return errors.New("host: the text is not valid UTF-8")
	case max(len(p.MID), len(p.Session), len(p.From)) > maxName:
		return fmt.Errorf("%w: an id of more than %d bytes", ErrTooLong, maxName)
	}
	return nil
}

// hello connects and says who is there.
func (c *Client) hello(ctx context.Context) (*wire, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	w, _, err := dial(ctx, c.dir)
	if err != nil {
		return nil, err
	}
	if err := w.write(frame{Type: helloFrame, Version: Version, Role: senderRole}); err != nil {
		w.close()
		return nil, c.ended(ctx, err)
	}
	return w, nil
}

// attended returns a ctx that ends with [ErrSilent] once the host is stopped or stuck:
// while an answer takes long, it is seen again and again whether new connections are
// greeted still. The caller calls stop when it has the answer.
func (c *Client) attended(ctx context.Context) (attended context.Context, stop func()) {
	attended, cancel := context.WithCancelCause(ctx)
	go func() {
		again := time.NewTicker(answerWait())
		defer again.Stop()
		for {
			select {
			case <-attended.Done():
				return
			case <-again.C:
			}
			w, err := c.hello(attended)
			if err == nil {
				w.close()
			} else if errors.Is(err, ErrSilent) {
				cancel(ErrSilent)
			}
		}
	}()
	return attended, func() { cancel(nil) }
}

// refusal marks an error from before the request.
func refusal(err error) error {
	if errors.Is(err, ErrVersion) || errors.Is(err, ErrPeer) || errors.Is(err, ErrProtocol) || errors.Is(err, ErrSilent) {
		return adapter.Because(adapter.ErrBlocked, err)
	}
	return adapter.Refuse(err)
}

// ended says why an exchange did not end.
func (c *Client) ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("host: %w", context.Cause(ctx))
	}
	return fmt.Errorf("host: the connection to the host was lost: %w", err)
}

// ask makes one request that changes nothing on paper.
func (c *Client) ask(ctx context.Context, request frame, want string) (frame, error) {
	w, err := c.hello(ctx)
	if err != nil {
		return frame{}, err
	}
	defer w.close()
	ctx, stop := c.attended(ctx)
	defer stop()
	defer w.until(ctx)()
	if err := w.write(request); err != nil {
		return frame{}, c.ended(ctx, err)
	}
	f, err := w.read()
	switch {
	case err != nil:
		return frame{}, c.ended(ctx, err)
	case f.told() != nil:
		return frame{}, f.told()
	case f.Type != want:
		return frame{}, fmt.Errorf("%w: %s for %s", ErrProtocol, f.Type, want)
	}
	return f, nil
}

// Lookup asks the broker, which asks its agent and its recorder; it waits for a
// prompt that is on its way. Absent also means that no request of a sender that died
// can bring the prompt there any more.
func (c *Client) Lookup(ctx context.Context, mid string) (adapter.Presence, error) {
	if !utf8.ValidString(mid) || len(mid) > maxName {
		return adapter.Absent, nil // Insert refuses such a prompt
	}
	f, err := c.ask(ctx, frame{Type: lookupFrame, MID: mid}, presenceFrame)
	if err != nil {
		return adapter.CannotTell, err
	}
	if f.Text != "" {
		err = errors.New(f.Text)
	}
	return adapter.Presence(f.State), err
}

// Probe asks the broker what its agent is doing.
func (c *Client) Probe(ctx context.Context) (adapter.State, error) {
	f, err := c.ask(ctx, frame{Type: probeFrame}, probedFrame)
	switch {
	case errors.Is(err, ErrNoHost):
		return adapter.Gone, err
	case errors.Is(refusal(err), adapter.ErrBlocked):
		return adapter.Blocked, err
	case err != nil:
		return adapter.Unknown, err
	case f.Text != "":
		err = errors.New(f.Text)
	}
	return adapter.State(f.State), err
}

// Reach looks whether a broker listens, and waits for no word of it, so that it costs
// next to nothing. Nil promises only that one does; an error that is [ErrNoHost] proves
// that none does, and [ErrDied] comes with it where the last one was killed. Any other
// error says nothing.
func (c *Client) Reach(ctx context.Context) error {
	conn, err := connect(ctx, c.dir)
	if err == nil {
		conn.Close()
	}
	return err
}

// Interrupt revokes at once whatever permission the present turn asked for, and has
// the agent stop; one that goes on all the same is ended after a grace. The error is
// [ErrNoHost] when there is no host.
func (c *Client) Interrupt(ctx context.Context) error {
	_, err := c.ask(ctx, frame{Type: interruptFrame}, doneFrame)
	return err
}

// Decide answers a request for permission with one of its options. Nil means that the
// agent has the answer; the error is [ErrNoPermission] if nobody waits for it, and
// [ErrNoOption] if the permission has other options.
func (c *Client) Decide(ctx context.Context, permission, option string) error {
	_, err := c.ask(ctx, frame{Type: decideFrame, Permission: permission, Option: option}, doneFrame)
	return err
}
