package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/docket-go/docket/lock/step"
)

// maxConnections bounds the connections at one time; more are turned away.
const maxConnections = 256

// senders keeps the order in which connections came, for [state.fenced].
type senders struct {
	next   uint64
	open   map[uint64]bool
	fences map[string]uint64
}

// A connection is one peer of the broker.
type connection struct {
	*wire
	number uint64 // connections are numbered as they are accepted
}

// accept takes connections until the listener is closed.
func (b *Broker) accept() error {
	for {
		conn, err := b.listener.AcceptUnix()
		if err != nil {
			var again interface{ Temporary() bool }
			if errors.As(err, &again) && again.Temporary() { // out of descriptors, say
				select {
				case <-time.After(pollGroup):
					continue
				case <-b.ctx.Done():
				}
			}
			return err
		}
		b.with(func(s *state) {
			c := connection{newWire(conn), s.senders.next}
			s.senders.next++
			if len(s.senders.open) >= maxConnections || s.stopping && b.ctx.Err() != nil {
				conn.Close()
				return
			}
			s.senders.open[c.number] = true
			b.work.Go(func() { b.converse(c) })
		})
	}
}

// converse serves one connection until its end.
func (b *Broker) converse(c connection) {
	defer b.with(func(s *state) { s.left(c) })
	defer c.close()
	defer c.until(b.ctx)()
	if err := b.greet(c); err != nil {
		return
	}
	_ = c.conn.SetDeadline(time.Now().Add(helloWait))
	hello, err := c.read()
	if err == nil && hello.Type != helloFrame {
		err = fmt.Errorf("%w: %s for a hello", ErrProtocol, hello.Type)
	}
	if err == nil && hello.Version != Version {
		err = fmt.Errorf("%w: the host speaks %d, the peer %d", ErrVersion, Version, hello.Version)
	}
	switch {
	case err != nil:
	case hello.Role == senderRole:
		err = b.serveSender(c)
	case hello.Role == recorderRole:
		_ = c.conn.SetDeadline(time.Time{})
		err = b.serveRecorder(c)
	default:
		err = fmt.Errorf("%w: role %.40q", ErrProtocol, hello.Role)
	}
	b.part(c, err)
}

// The roles that a peer may have.
const (
	senderRole   = "sender"
	recorderRole = "recorder"
)

// greet checks who came and says what this broker speaks.
func (b *Broker) greet(c connection) error {
	_ = c.conn.SetDeadline(time.Now().Add(helloWait))
	if err := checkPeer(c.conn); err != nil {
		b.part(c, err)
		return err
	}
	return c.write(frame{Type: welcomeFrame, Version: Version, Replay: Replay, Session: b.options.Session.ID, Instance: b.instance})
}

// part tells the peer what was wrong, if it still listens.
func (b *Broker) part(c connection, err error) {
	var lost net.Error
	if err == nil || errors.As(err, &lost) {
		return
	}
	_ = c.conn.SetWriteDeadline(time.Now().Add(helloWait))
	_ = c.write(faultFrameOf(err))
}

// left forgets a connection, and the fences that kept only older ones out.
func (s *state) left(c connection) {
	delete(s.senders.open, c.number)
	if len(s.senders.fences) == 0 {
		return
	}
	oldest := s.senders.next
	for n := range s.senders.open {
		oldest = min(oldest, n)
	}
	for mid, n := range s.senders.fences {
		if n <= oldest {
			delete(s.senders.fences, mid)
		}
	}
}

// serveSender answers the one request of a connection.
func (b *Broker) serveSender(c connection) error {
	f, err := c.read()
	if err != nil {
		return err
	}
	_ = c.conn.SetDeadline(time.Time{})
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	go func() { // nothing more is to come: whatever ends this read ends the request
		_, err := c.read()
		cancel(fmt.Errorf("the sender went away: %w", errors.Join(err, context.Canceled)))
	}()
	answer, err := b.request(ctx, c, f)
	if err != nil {
		return err
	}
	step.At("adapter/host: answering")
	_ = c.conn.SetWriteDeadline(time.Now().Add(helloWait))
	return c.write(answer)
}

// request does what a sender asks for.
func (b *Broker) request(ctx context.Context, c connection, f frame) (frame, error) {
	switch f.Type {
	case promptFrame:
		answer := b.prompt(ctx, c, f)
		b.tellPrompt(f.MID, answer)
		return answer, nil
	case lookupFrame:
		return b.lookup(ctx, c, f.MID), nil
	case probeFrame:
		return b.probe(), nil
	case interruptFrame:
		return frame{Type: doneFrame}, b.interrupt(ctx)
	case decideFrame:
		return frame{Type: doneFrame}, b.decide(ctx, f.Permission, f.Option)
	case asksFrame:
		return b.waiting()
	}
	return frame{}, fmt.Errorf("%w: %s from a sender", ErrProtocol, f.Type)
}
