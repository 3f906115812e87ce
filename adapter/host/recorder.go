package host

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock/step"
)

// maxBatch bounds the emissions that are sent in one go.
const maxBatch = 64

// A recorder is the broker's side of the one connection that takes its emissions.
type recorder struct {
	connection
	ready  bool   // it has said once that nothing is left to catch up with
	bound  bool   // it gets the emissions of the turn
	sent   uint64 // number of the last one
	idle   bool   // it was told that the next prompt may come
	out    []frame
	news   map[string]string // facts that it has not been told
	finds  map[string][]chan adapter.Presence
	wakeup chan struct{}
}

// serveRecorder attaches a recorder until its connection ends.
func (b *Broker) serveRecorder(c connection) error {
	r := &recorder{connection: c, wakeup: make(chan struct{}, 1), finds: map[string][]chan adapter.Presence{}}
	taken := false
	b.with(func(s *state) { taken = s.attach(r) })
	if taken {
		return ErrOwned
	}
	quit := make(chan struct{})
	defer b.with(func(s *state) { s.detach(r) })
	defer close(quit)
	b.work.Go(func() { b.pump(r, quit) })
	for {
		f, err := c.read()
		if err != nil {
			return err
		}
		var refused error
		var start *turn
		b.with(func(s *state) { start, refused = s.obey(r, f) })
		if refused != nil {
			return refused
		}
		if start != nil {
			step.At("adapter/host: dispatched")
			b.work.Go(func() { b.submit(start) })
		}
	}
}

// attach makes r the recorder and tells it what there is, unless there is one.
func (s *state) attach(r *recorder) (taken bool) {
	if s.recorder != nil {
		return true
	}
	s.recorder = r
	r.news = map[string]string{}
	for name, value := range s.facts {
		r.news[name] = value
	}
	attached := frame{Type: attachedFrame}
	if t := s.turn; t != nil {
		attached.Token, attached.N, attached.Finished, attached.Ready = t.token, t.replay.last(), t.finished, t.ready
	}
	r.out = append(r.out, attached)
	s.wake()
	return false
}

// detach lets the recorder go. What it had not dispatched is refused: nothing of
// it reached the agent, and the recorder that comes back does not dispatch it.
func (s *state) detach(r *recorder) {
	s.recorder = nil
	for _, waiting := range r.finds {
		for _, found := range waiting {
			found <- adapter.CannotTell
		}
	}
	if s.offer != nil {
		s.resolve(s.offer, adapter.Because(adapter.ErrBlocked, errors.New("host: the recorder went away before it started the turn: it is tried again later")))
		s.offer = nil
	}
}

// pump sends the recorder what there is, so that nobody else waits for it.
func (b *Broker) pump(r *recorder, quit <-chan struct{}) {
	for {
		select {
		case <-r.wakeup:
		case <-quit:
			return
		}
		for {
			var frames []frame
			var batch []Emission
			var err error
			b.with(func(s *state) { frames, batch, err = s.next(r) })
			for _, e := range batch {
				f, failed := emissionOf(e.Token, e.N, e.Native, e.Value)
				frames, err = append(frames, f), errors.Join(err, failed)
			}
			if err == nil && len(frames) > 0 {
				err = r.write(frames...)
				step.At("adapter/host: told the recorder")
			}
			if err != nil {
				r.close()
				return
			}
			if len(frames) == 0 {
				break
			}
		}
	}
}

// next returns what the recorder is to get next: frames, then emissions.
func (s *state) next(r *recorder) (frames []frame, batch []Emission, err error) {
	frames = r.out
	r.out = nil
	for _, name := range sortedKeys(r.news) {
		frames = append(frames, frame{Type: factFrame, Name: name, Text: r.news[name]})
	}
	clear(r.news)
	if !r.idle && s.busy() == nil && s.starting == nil && s.again == nil {
		r.idle = true
		frames = append(frames, frame{Type: idleFrame})
	}
	if s.turn == nil || !r.bound {
		return frames, nil, nil
	}
	batch, ok := s.turn.replay.after(s.turn.token, r.sent, maxBatch)
	if !ok {
		return nil, nil, ErrGap
	}
	r.sent += uint64(len(batch))
	return frames, batch, nil
}

// obey does what the recorder says. start is a turn to be submitted.
func (s *state) obey(r *recorder, f frame) (start *turn, err error) {
	switch f.Type {
	case rebindFrame:
		s.rebind(r, f)
		return nil, nil
	case readyFrame:
		return nil, s.recorderReady(r, f.Token)
	case abandonFrame:
		return nil, s.abandon(f.Token)
	case dispatchFrame:
		return s.dispatch(r, f.Token)
	case rejectFrame:
		return nil, s.reject(f)
	case ackFrame:
		if s.turn != nil && s.turn.token == f.Token {
			s.turn.replay.drop(min(f.N, r.sent))
		}
		return nil, nil
	case foundFrame:
		waiting := r.finds[f.MID]
		delete(r.finds, f.MID)
		for _, found := range waiting {
			found <- adapter.Presence(f.State)
		}
		return nil, nil
	}
	return nil, fmt.Errorf("%w: %s from a recorder", ErrProtocol, f.Type)
}

// rebind goes on with the emissions of a turn behind number n. It never dispatches.
func (s *state) rebind(r *recorder, f frame) {
	answer := frame{Type: doneFrame}
	switch {
	case s.turn == nil || s.turn.token != f.Token:
		answer = faultFrameOf(fmt.Errorf("%w: %.80q", ErrToken, f.Token))
	case f.N+1 < s.turn.replay.from || f.N > s.turn.replay.last():
		answer = faultFrameOf(fmt.Errorf("%w: after %d, of %d to %d", ErrGap, f.N, s.turn.replay.from, s.turn.replay.last()))
	default:
		r.bound, r.sent = true, f.N
	}
	r.out = append(r.out, answer)
	s.wake()
}

// recorderReady takes note that the recorder has recorded the end of the last turn
// and cleaned up after it.
func (s *state) recorderReady(r *recorder, token string) error {
	if s.turn != nil && (token != s.turn.token || !s.turn.finished) || s.turn == nil && token != "" {
		return fmt.Errorf("%w: ready for %.80q", ErrProtocol, token)
	}
	if s.turn != nil {
		s.turn.ready = true
	}
	r.ready = true
	s.wake()
	return nil
}

// abandon ends a turn that no log holds open any more, with its program.
func (s *state) abandon(token string) error {
	t := s.turn
	if t == nil || t.token != token {
		return fmt.Errorf("%w: abandon %.80q", ErrProtocol, token)
	}
	if !t.finished {
		s.finish(t, Native{}, Finished{Interrupted, CodeAbandoned, "the recorder gave it up"})
		t.agent.kill()
	}
	t.replay.drop(t.replay.last())
	if s.recorder != nil {
		s.recorder.bound = false
	}
	return nil
}

// dispatch makes the offered prompt a turn. Its start is durable by now.
func (s *state) dispatch(r *recorder, token string) (*turn, error) {
	o := s.offer
	if o == nil || o.token != token {
		return nil, fmt.Errorf("%w: dispatch %.80q", ErrProtocol, token)
	}
	s.offer = nil
	s.turn = &turn{offer: o, agent: s.agent, replay: replay{from: 1}, pending: map[string]Permission{}}
	r.bound, r.sent, r.idle = true, 0, false
	var err error
	switch {
	case o.resolved(): // the broker is ending
		err = o.answer
	case s.agent == nil || s.agent.ended():
		err = adapter.Because(adapter.ErrGone, errors.New("host: the agent ended before it got the prompt: it is started again"))
	}
	if err != nil {
		s.submitted(s.turn, err)
		return nil, nil
	}
	return s.turn, nil
}

// reject gives an offer back: its turn did not start.
func (s *state) reject(f frame) error {
	if s.offer == nil || s.offer.token != f.Token {
		return fmt.Errorf("%w: reject %.80q", ErrProtocol, f.Token)
	}
	reason, known := reasons()[f.Reason]
	if !known {
		reason = adapter.ErrRefused
	}
	s.resolve(s.offer, adapter.Because(reason, errors.New(f.Text)))
	s.offer = nil
	return nil
}
