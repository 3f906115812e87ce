package turn

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

var errNotEvent = errors.New("not an event")

// An envelope is what events of every version have.
type envelope struct {
	TS   *string `json:"ts"`
	Kind *string `json:"kind"`
	V    *int    `json:"v"`
}

// parseEnvelope returns false for what is no event of any version.
func parseEnvelope(line []byte) (v int, kind string, ok bool) {
	var e envelope
	if json.Unmarshal(line, &e) != nil || e.TS == nil || e.Kind == nil || e.V == nil {
		return 0, "", false
	}
	return *e.V, *e.Kind, true
}

// decode reads a line of the log, with or without the engine's fields at its end.
// Anything but exactly what append writes for the event is refused: an unknown
// version or kind, an unknown, missing or repeated field, another order or spelling, a
// value that the vocabulary does not have. Seq and Next are not in it.
func decode(line []byte) (Event, error) {
	p := parser{line: line}
	e := p.event()
	if p.err != nil {
		return Event{}, refusal(line, p.err)
	}
	if err := checkPayload(e.Native, e.Payload, -1); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return e, nil
}

// refusal says why a line is not decoded: it is none, or a later version's, or of an
// unknown kind, or else what the parser says.
func refusal(line []byte, err error) error {
	v, kind, ok := parseEnvelope(line)
	switch {
	case !ok:
		return fmt.Errorf("%w: %w", ErrInvalid, errNotEvent)
	case v != formatVersion:
		return fmt.Errorf("%w: version %d", ErrVersion, v)
	case !known(Kind(kind)):
		return fmt.Errorf("%w: %q", ErrKind, kind)
	}
	return fmt.Errorf("%w: not in the form in which this version writes a %s event: %w", ErrInvalid, kind, err)
}

func known(k Kind) bool {
	p := parser{}
	return p.payload(k) != nil
}

// event reads what append writes, and what the engine adds to it.
func (p *parser) event() Event {
	p.literal(`{"ts":`)
	at := p.time()
	p.literal(`,"kind":`)
	kind := Kind(p.string())
	p.literal(`,"v":1`)
	e := Event{Time: at}
	if p.has(`,"turn":`) {
		e.Turn = p.filled()
	}
	if e.Payload = p.payload(kind); e.Payload == nil {
		p.fail("a known kind")
	}
	e.Native = p.native()
	p.end()
	return e
}

func (p *parser) time() time.Time {
	s := p.string()
	at, err := time.Parse(timeLayout, s)
	if err != nil {
		p.failWith(err)
	} else if at.Format(timeLayout) != s {
		p.failWith(fmt.Errorf("%q is no time", s))
	}
	return at
}

// payload returns nil for an unknown kind.
func (p *parser) payload(k Kind) Payload {
	switch k {
	case KindStarted:
		s := Started{MID: p.field("mid")}
		if p.has(`,"token":`) {
			s.Token = p.filled()
		}
		s.Attributes = p.attributes()
		return s
	case KindText:
		return Text{p.field("text")}
	case KindThought:
		return Thought{p.field("text")}
	case KindTool:
		return Tool{p.field("tool"), p.field("title"), p.field("class"), ToolStatus(p.field("status"))}
	case KindPermission:
		return Permission{p.field("permission"), p.field("title"), p.options(), PermissionState(p.field("state"))}
	case KindUsage:
		return Usage{p.number("input"), p.number("cached"), p.number("output"), p.number("reasoning"), p.number("total")}
	case KindResultObserved:
		return ResultObserved{p.field("text")}
	case KindDiagnostic:
		return Diagnostic{Severity(p.field("severity")), p.field("code"), p.field("text")}
	case KindState:
		return State{p.field("name"), p.field("value")}
	case KindFinished:
		return Finished{Outcome(p.field("outcome")), p.field("code"), p.field("diagnostic")}
	}
	return nil
}

func (p *parser) native() (n Native) {
	if !p.has(`,"native":{`) {
		return n
	}
	p.at-- // the brace stands where the comma of a field does
	first := true
	for _, f := range [...]struct {
		name string
		to   *string
	}{{`"provider":`, &n.Provider}, {`"session":`, &n.Session}, {`"turn":`, &n.Turn}, {`"item":`, &n.Item}} {
		if p.hasNext(f.name, &first) {
			*f.to = p.filled()
		}
	}
	if p.hasNext(`"broker":`, &first) {
		if n.Broker = p.digits(); n.Broker == 0 {
			p.fail("a broker sequence")
		}
	}
	p.literal(`}`) // which does not stand there if there was no field
	return n
}

func (p *parser) attributes() map[string]string {
	if !p.has(`,"attributes":{`) {
		return nil
	}
	all := map[string]string{}
	for last := ""; ; {
		name := p.string()
		p.literal(`:`)
		if len(all) > 0 && name <= last {
			p.fail("a later attribute")
		}
		all[name], last = p.string(), name
		if p.err != nil || !p.has(`,`) {
			break
		}
	}
	p.literal(`}`)
	return all
}

func (p *parser) options() (all []string) {
	p.literal(`,"options":[`)
	if p.has(`]`) {
		return nil
	}
	for {
		all = append(all, p.string())
		if p.err != nil || !p.has(`,`) {
			break
		}
	}
	p.literal(`]`)
	return all
}
