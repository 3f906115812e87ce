package timeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/docket-go/docket/timeline/segment"
)

// A Human is the last message that a human sent. It names the session's current
// human turn.
type Human struct {
	MID  string
	Time time.Time
	Via  Channel // where the human reads the answer, never empty
	Seq  uint64
}

// human returns the line as a message that a human sent, and false if it is none.
func (l *line) human(seq uint64) (h Human, ok bool) {
	if l.kind != sentLine || l.string(l.from) != "" {
		return Human{}, false
	}
	via := Event{ReplyVia: Channel(l.string(l.replyVia))}.Via()
	return Human{MID: l.string(l.mid), Time: l.time(), Via: via, Seq: seq}, true
}

// A lastHuman is what an earlier look for the last human message found.
type lastHuman struct {
	mu    sync.Mutex
	epoch segment.Epoch
	end   uint64 // events before it were looked at
	human Human
	ok    bool
}

// LastHuman returns the last message that a human sent, and false if there is
// none; messages of sessions do not count. It reads the newest segment at most:
// what is before it is summed up in its header. A Log that is asked again reads
// only what was appended since.
func (l *Log) LastHuman(ctx context.Context) (h Human, ok bool, err error) {
	v, err := l.segments.View(ctx)
	if err != nil {
		return Human{}, false, l.wrap(err)
	}
	m := &l.lastHuman
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.epoch != v.Epoch() || m.end > v.End() {
		m.epoch, m.end, m.ok = v.Epoch(), 0, false
	}
	h, ok, err = l.findHuman(ctx, v)
	if err == nil {
		m.end, m.human, m.ok = v.End(), h, ok
	}
	return h, ok, err
}

// findHuman looks through the events that were not looked at before.
func (l *Log) findHuman(ctx context.Context, v *segment.View) (h Human, ok bool, err error) {
	m, known := &l.lastHuman, false
	before, err := l.backward(ctx, v, func(at segment.Line, p *line) bool {
		if known = at.Seq < m.end; known {
			return true
		}
		h, ok = p.human(at.Seq)
		return ok
	})
	if known {
		return m.human, m.ok, nil
	}
	if err != nil || ok || before.LastHuman == nil {
		return h, ok, err
	}
	f := before.LastHuman
	if f.MID != "" {
		return Human{MID: f.MID, Time: parseTime(f.TS), Via: f.Via, Seq: f.Seq}, true, nil
	}
	pick := picker{log: l}
	defer pick.close()
	err = pick.at(ctx, f.Seq, func(_ *segment.Line, p *line) error {
		if h, ok = p.human(f.Seq); !ok {
			return errors.New("it is of no human")
		}
		return nil
	})
	return h, ok, err
}

// LastStatus returns the last declaration, and false if there is none. Like
// [Log.LastHuman] it reads the newest segment at most, but each time anew, up to the
// declaration.
func (l *Log) LastStatus(ctx context.Context) (e Event, ok bool, err error) {
	v, err := l.segments.View(ctx)
	if err != nil {
		return Event{}, false, l.wrap(err)
	}
	before, err := l.backward(ctx, v, func(at segment.Line, p *line) bool {
		if ok = p.kind == statusLine; ok {
			ok = l.decode(&at, nil, &e) == nil
		}
		return ok
	})
	if err != nil || ok || before.LastStatus == nil {
		return e, ok, err
	}
	pick := picker{log: l}
	defer pick.close()
	err = pick.at(ctx, before.LastStatus.Seq, func(at *segment.Line, p *line) error {
		if p.kind != statusLine {
			return errors.New("it is no status")
		}
		if bad := l.decode(at, nil, &e); bad != nil {
			return bad
		}
		return nil
	})
	return e, err == nil, err
}

// backward visits the events, newest first, until visit returns true or the lines
// before are summed up in a header. Only their public fields are filled in. It returns
// that summary, which is empty at the start of the log.
func (l *Log) backward(ctx context.Context, v *segment.View, visit func(at segment.Line, p *line) (stop bool)) (before facts, err error) {
	var p line // outside the loop, because visit lets it escape
	for at, err := range v.Backward(ctx) {
		if err != nil {
			return facts{}, l.wrap(err)
		}
		if at.Class != segment.Public && !at.Header {
			continue
		}
		if p.parseEvent(&at) != nil {
			continue
		}
		if f, ok := p.summary(at); ok {
			return f, nil
		}
		if visit(at, &p) {
			return facts{}, nil
		}
	}
	return facts{}, nil
}

// summary returns the facts of a header, and false for any other line.
func (l *line) summary(at segment.Line) (f facts, ok bool) {
	if !at.Header || l.facts.absent() {
		return facts{}, false
	}
	return decodeFacts(l.facts.bytes(l.raw))
}
