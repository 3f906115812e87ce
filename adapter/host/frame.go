package host

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/docket-go/docket/adapter"
)

const (
	// Version is the version of the protocol; peers with another are turned away.
	Version = 1

	// Replay is the version of the replay that [Owner.Rebind] asks for.
	Replay = 1

	// MaxTextBytes bounds the text and the attributes of a prompt, each.
	MaxTextBytes = 9 << 20

	// maxLineBytes bounds one line: a text in which every byte is escaped fits.
	maxLineBytes = 2*6*MaxTextBytes + 1<<16
)

// The types of frames. See the package comment for who sends which.
const (
	welcomeFrame     = "welcome"
	helloFrame       = "hello"
	promptFrame      = "prompt"
	lookupFrame      = "lookup"
	probeFrame       = "probe"
	interruptFrame   = "interrupt"
	decideFrame      = "decide"
	asksFrame        = "asks"
	askedFrame       = "asked"
	takenFrame       = "taken"
	refusedFrame     = "refused"
	unconfirmedFrame = "unconfirmed"
	presenceFrame    = "presence"
	probedFrame      = "probed"
	doneFrame        = "done"
	faultFrame       = "fault"
	attachedFrame    = "attached"
	rebindFrame      = "rebind"
	readyFrame       = "ready"
	abandonFrame     = "abandon"
	offerFrame       = "offer"
	dispatchFrame    = "dispatch"
	rejectFrame      = "reject"
	emissionFrame    = "emission"
	ackFrame         = "ack"
	factFrame        = "fact"
	findFrame        = "find"
	foundFrame       = "found"
	idleFrame        = "idle"
)

// fields names the fields that each type of frame may have.
var fields = sync.OnceValue(func() map[string]string {
	return map[string]string{
		welcomeFrame:     "version replay session instance",
		helloFrame:       "version role",
		promptFrame:      "mid session from text attributes",
		lookupFrame:      "mid",
		probeFrame:       "",
		interruptFrame:   "",
		decideFrame:      "permission option",
		asksFrame:        "",
		askedFrame:       "value",
		takenFrame:       "token",
		refusedFrame:     "reason text",
		unconfirmedFrame: "text",
		presenceFrame:    "state text",
		probedFrame:      "state text",
		doneFrame:        "",
		faultFrame:       "reason text",
		attachedFrame:    "token n finished ready",
		rebindFrame:      "token n",
		readyFrame:       "token",
		abandonFrame:     "token",
		offerFrame:       "token mid session from text attributes",
		dispatchFrame:    "token",
		rejectFrame:      "token reason text",
		emissionFrame:    "token n native kind value",
		ackFrame:         "token n",
		factFrame:        "name text",
		findFrame:        "mid",
		foundFrame:       "mid state",
		idleFrame:        "",
	}
})

// A frame is one line of the protocol.
type frame struct {
	Type string `json:"type"`

	Version  int    `json:"version,omitempty"`
	Replay   int    `json:"replay,omitempty"`
	Role     string `json:"role,omitempty"` // "sender" or "recorder"
	Instance string `json:"instance,omitempty"`

	MID        string            `json:"mid,omitempty"`
	Session    string            `json:"session,omitempty"`
	From       string            `json:"from,omitempty"`
	Text       string            `json:"text,omitempty"`
	Attributes map[string]string `json:"attributes,omitempty"`

	Reason     string `json:"reason,omitempty"`
	State      int    `json:"state,omitempty"` // of adapter.Presence or adapter.State
	Permission string `json:"permission,omitempty"`
	Option     string `json:"option,omitempty"`
	Name       string `json:"name,omitempty"`

	Token    string          `json:"token,omitempty"`
	N        uint64          `json:"n,omitempty"`
	Finished bool            `json:"finished,omitempty"`
	Ready    bool            `json:"ready,omitempty"`
	Native   *Native         `json:"native,omitempty"`
	Kind     string          `json:"kind,omitempty"`
	Value    json.RawMessage `json:"value,omitempty"`
}

// prompt returns the prompt that the frame carries.
func (f frame) prompt() adapter.Prompt {
	return adapter.Prompt{MID: f.MID, Session: f.Session, From: f.From, Text: f.Text, Attributes: f.Attributes}
}

// promptOf returns a frame that carries p.
func promptOf(kind, token string, p adapter.Prompt) frame {
	return frame{Type: kind, Token: token, MID: p.MID, Session: p.Session, From: p.From, Text: p.Text, Attributes: p.Attributes}
}

// appendFrame appends f as one line.
func appendFrame(dst []byte, f frame) ([]byte, error) {
	buffer := bytes.NewBuffer(dst)
	encoder := json.NewEncoder(buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(f); err != nil {
		return dst, fmt.Errorf("host: %s: %w", f.Type, err)
	}
	return buffer.Bytes(), nil
}

// decodeFrame reads one line. Its type must be known and its fields must be those
// of its type: what is not understood whole is not acted upon.
func decodeFrame(line []byte) (frame, error) {
	var f frame
	if !utf8.Valid(line) {
		return f, fmt.Errorf("%w: a line that is not UTF-8", ErrProtocol)
	}
	if err := strict(line, &f); err != nil {
		return frame{}, fmt.Errorf("%w: %w", ErrProtocol, err)
	}
	allowed, known := fields()[f.Type]
	if !known {
		return frame{}, fmt.Errorf("%w: a frame of type %.40q", ErrProtocol, f.Type)
	}
	all := reflect.ValueOf(f)
	for i := 1; i < all.NumField(); i++ {
		name, _, _ := strings.Cut(all.Type().Field(i).Tag.Get("json"), ",")
		if !all.Field(i).IsZero() && !contains(allowed, name) {
			return frame{}, fmt.Errorf("%w: a %s frame with %s", ErrProtocol, f.Type, name)
		}
	}
	return f, nil
}

func contains(words, word string) bool {
	for w := range strings.FieldsSeq(words) {
		if w == word {
			return true
		}
	}
	return false
}

// strict decodes one JSON value with no unknown field and nothing behind it.
func strict(data []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("something stands behind the value")
	}
	return nil
}
