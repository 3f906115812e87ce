package turn

import (
	"errors"
	"fmt"
	"maps"
)

// What a log must not hold, and a writer must not make.
var (
	errGap         = errors.New("events are missing before it")
	errTwoTurns    = errors.New("a turn starts while another is open")
	errNumber      = errors.New("its turn's number does not follow on the one before")
	errWrongTurn   = errors.New("it belongs to a turn that is not open")
	errNoTurn      = errors.New("a fact about the session belongs to no turn")
	errBrokerOrder = errors.New("its broker sequence does not follow on those before")
	errStates      = fmt.Errorf("more than %d names of session state", maxStates)
)

// A track is what is known of one turn.
type track struct {
	started  Event
	token    string
	broker   uint64 // the greatest that an event of the turn bears
	finished *Event
}

// A life is what the events of a log add up to. It is what recovery builds from the
// files and a writer keeps up to date, by the same rules, and its size is bounded:
// it knows the last turn and no other.
type life struct {
	next uint64 // sequence of the next event
	last *track // the turn that started last
	turn uint64 // its number
	now  map[string]string
}

// open returns the turn that is open, or nil.
func (l *life) open() *track {
	if l.last == nil || l.last.finished != nil {
		return nil
	}
	return l.last
}

// check returns why e cannot be the next event, and nil if it can.
func (l *life) check(e Event) error {
	if e.Seq != l.next {
		return fmt.Errorf("%w: event %d should stand there", errGap, l.next)
	}
	open := l.open()
	switch p := e.Payload.(type) {
	case State:
		if e.Turn != "" {
			return fmt.Errorf("%w: turn %q", errNoTurn, e.Turn)
		}
		if _, known := l.now[p.Name]; !known && len(l.now) >= maxStates {
			return errStates
		}
		if e.Native.Broker == 0 {
			return nil
		}
		return checkBroker(e, open)
	case Started:
		if open != nil {
			return fmt.Errorf("%w: %s", errTwoTurns, open.started.Turn)
		}
		if n, ok := numberOf(e.Turn); !ok || n != l.turn+1 {
			return fmt.Errorf("%w: turn %q where number %d is due", errNumber, e.Turn, l.turn+1)
		}
		return nil
	}
	if open == nil || e.Turn != open.started.Turn {
		return fmt.Errorf("%w: turn %q", errWrongTurn, e.Turn)
	}
	return checkBroker(e, open)
}

// checkBroker returns why the broker sequence of e cannot come next on the open turn.
func checkBroker(e Event, open *track) error {
	b := e.Native.Broker
	if b != 0 && open == nil {
		return fmt.Errorf("%w: %d, and no turn is open", errBrokerOrder, b)
	}
	if b != 0 && b <= open.broker {
		return fmt.Errorf("%w: %d after %d", errBrokerOrder, b, open.broker)
	}
	return nil
}

// add takes e, which check let pass, as the next event.
func (l *life) add(e Event) {
	l.next++
	switch p := e.Payload.(type) {
	case State:
		if l.now == nil {
			l.now = map[string]string{}
		}
		l.now[p.Name] = p.Value
	case Started:
		token := p.Token
		p.Token = ""
		e.Payload = p
		l.last, l.turn = &track{started: e, token: token, broker: e.Native.Broker}, l.turn+1
		return
	case Finished:
		l.last.finished = &e
	}
	if l.last != nil {
		l.last.broker = max(l.last.broker, e.Native.Broker)
	}
}

// state returns the facts about the session that hold now.
func (l *life) state() map[string]string {
	if l.now == nil {
		return map[string]string{}
	}
	return maps.Clone(l.now)
}
