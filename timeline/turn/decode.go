package turn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	errNotEvent = errors.New("not an event")
	errForm     = errors.New("not in the form in which this version writes the event")
)

// A stored has the fields of every kind of event.
type stored struct {
	TS   string `json:"ts"`
	Kind Kind   `json:"kind"`
	V    int    `json:"v"`
	Turn string `json:"turn"`

	MID        string            `json:"mid"`
	Token      string            `json:"token"`
	Attributes map[string]string `json:"attributes"`
	Text       string            `json:"text"`
	Tool       string            `json:"tool"`
	Permission string            `json:"permission"`
	Title      string            `json:"title"`
	Class      string            `json:"class"`
	Status     ToolStatus        `json:"status"`
	Options    []string          `json:"options"`
	State      PermissionState   `json:"state"`
	Input      uint64            `json:"input"`
	Cached     uint64            `json:"cached"`
	Output     uint64            `json:"output"`
	Reasoning  uint64            `json:"reasoning"`
	Total      uint64            `json:"total"`
	Severity   Severity          `json:"severity"`
	Name       string            `json:"name"`
	Value      string            `json:"value"`
	Outcome    Outcome           `json:"outcome"`
	Code       string            `json:"code"`
	Diagnostic string            `json:"diagnostic"`

	Native struct {
		Provider string `json:"provider"`
		Session  string `json:"session"`
		Turn     string `json:"turn"`
		Item     string `json:"item"`
		Broker   uint64 `json:"broker"`
	} `json:"native"`
}

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
// version or kind, an unknown, missing or repeated field, a value that the
// vocabulary does not have. Seq and Next are not in it.
func decode(line []byte) (Event, error) {
	var s stored
	err := json.Unmarshal(line, &s)
	if err != nil || s.V != formatVersion || s.payload() == nil {
		return Event{}, refusal(line, err)
	}
	at, err := time.Parse(timeLayout, s.TS)
	if err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	e := Event{Time: at, Turn: s.Turn, Native: Native(s.Native), Payload: s.payload()}
	if form := e.append(nil, true); !hasForm(line, form) {
		return Event{}, fmt.Errorf("%w: %w", ErrInvalid, errForm)
	}
	if err := checkPayload(e.Native, e.Payload, -1); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return e, nil
}

// refusal says why a line is not decoded: it is none, or a later version's, or of an
// unknown kind, or else what the decoder says.
func refusal(line []byte, err error) error {
	v, kind, ok := parseEnvelope(line)
	switch {
	case !ok:
		return fmt.Errorf("%w: %w", ErrInvalid, errNotEvent)
	case v != formatVersion:
		return fmt.Errorf("%w: version %d", ErrVersion, v)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return fmt.Errorf("%w: %q", ErrKind, kind)
}

// hasForm reports whether line is form, less what the engine adds at the end.
func hasForm(line, form []byte) bool {
	body, found := bytes.CutPrefix(line, form[:len(form)-1])
	if !found {
		return false
	}
	if string(body) == "}" {
		return true
	}
	const crc, seq = `,"crc":"00000000"`, `,"seq":`
	if len(body) < len(crc)+len(seq)+2 || string(body[:8]) != crc[:8] || body[len(crc)-1] != '"' {
		return false
	}
	digits, found := bytes.CutPrefix(body[len(crc):len(body)-1], []byte(seq))
	return found && only(body[8:len(crc)-1], "0123456789abcdef") && only(digits, "0123456789") && body[len(body)-1] == '}'
}

// only reports whether s has no byte but those of set.
func only(s []byte, set string) bool {
	for _, c := range s {
		if strings.IndexByte(set, c) < 0 {
			return false
		}
	}
	return true
}

// payload returns nil for an unknown kind.
func (s *stored) payload() Payload {
	switch s.Kind {
	case KindStarted:
		return Started{MID: s.MID, Attributes: s.Attributes, Token: s.Token}
	case KindText:
		return Text{s.Text}
	case KindThought:
		return Thought{s.Text}
	case KindTool:
		return Tool{ID: s.Tool, Title: s.Title, Class: s.Class, Status: s.Status}
	case KindPermission:
		p := Permission{ID: s.Permission, Title: s.Title, State: s.State}
		if len(s.Options) > 0 {
			p.Options = s.Options
		}
		return p
	case KindUsage:
		return Usage{Input: s.Input, Cached: s.Cached, Output: s.Output, Reasoning: s.Reasoning, Total: s.Total}
	case KindResultObserved:
		return ResultObserved{s.Text}
	case KindDiagnostic:
		return Diagnostic{Severity: s.Severity, Code: s.Code, Text: s.Text}
	case KindState:
		return State{s.Name, s.Value}
	case KindFinished:
		return Finished{Outcome: s.Outcome, Code: s.Code, Diagnostic: s.Diagnostic}
	}
	return nil
}
