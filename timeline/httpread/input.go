package httpread

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

const maxKeyBytes = 200

// said is the body of a send.
type said struct {
	Text     *string          `json:"text"`
	ReplyVia timeline.Channel `json:"replyVia"`
}

// acceptedJSON is the answer to a send.
type acceptedJSON struct {
	Session   string          `json:"session"`
	MID       string          `json:"mid"`
	Replayed  bool            `json:"replayed"`
	Delivered bool            `json:"delivered"`
	Cursor    timeline.Cursor `json:"cursor"`
}

func (h *Handler) input(w http.ResponseWriter, r *http.Request) error {
	if _, err := query(r); err != nil {
		return err
	}
	if h.o.Send == nil {
		return notOffered("sending")
	}
	key, err := idempotencyKey(r)
	if err != nil {
		return err
	}
	body, err := h.said(w, r)
	if err != nil {
		return err
	}
	m := Message{Text: *body.Text, ReplyVia: body.ReplyVia, Key: key}
	if key != "" {
		m.Operation = InputOperation
	}
	return h.opened(r, func(s *session.Session) error {
		if _, err := s.Record(); err != nil {
			return err
		}
		m.Session = s.ID()
		a, err := h.o.Send(r.Context(), m)
		if err != nil {
			return err
		}
		w.Header().Set("Cache-Control", "no-store")
		return writeJSON(w, http.StatusAccepted, acceptedJSON{m.Session, a.MID, a.Replayed, a.Delivered, a.Cursor})
	})
}

func idempotencyKey(r *http.Request) (string, error) {
	keys := r.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return "", nil
	}
	unprintable := func(c rune) bool { return c < ' ' || c > '~' }
	if len(keys) > 1 || keys[0] == "" || len(keys[0]) > maxKeyBytes || strings.ContainsFunc(keys[0], unprintable) {
		return "", refuse(http.StatusBadRequest, "bad-key", "Idempotency-Key must be one text of 1 to %d printable ASCII characters, such as a UUID", maxKeyBytes)
	}
	return keys[0], nil
}

// said reads the body. That it has to be JSON keeps the forms of other sites out
// even where a browser names no origin.
func (h *Handler) said(w http.ResponseWriter, r *http.Request) (said, error) {
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || kind != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return said{}, refuse(http.StatusUnsupportedMediaType, "bad-content-type", "send JSON in UTF-8, with Content-Type: application/json")
	}
	if r.Header.Get("Content-Encoding") != "" {
		return said{}, refuse(http.StatusUnsupportedMediaType, "bad-content-encoding", "send the body as it is, without Content-Encoding")
	}
	err = http.NewResponseController(w).SetReadDeadline(time.Now().Add(h.o.Timeout))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		return said{}, err
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.o.MaxInputBytes))
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return said{}, refuse(http.StatusRequestEntityTooLarge, "text-too-large", "the body is larger than %d bytes: send a shorter text", large.Limit)
	}
	if err != nil {
		return said{}, &RefusalError{http.StatusBadRequest, "bad-body", "the body could not be read to its end: send it again", err}
	}
	return decodeSaid(b)
}

func decodeSaid(b []byte) (body said, err error) {
	if body, err = parseSaid(b); err != nil || body.Text == nil || !utf8.Valid(b) {
		return said{}, refuse(http.StatusBadRequest, "bad-body", `the body must be one JSON object: {"text": "…", "replyVia": "note" or "terminal", or left out}`)
	}
	switch {
	case body.ReplyVia != "" && body.ReplyVia != timeline.Note && body.ReplyVia != timeline.Terminal:
		return said{}, refuse(http.StatusUnprocessableEntity, "bad-reply-via", "replyVia must be note or terminal, or left out")
	case strings.TrimSpace(*body.Text) == "":
		return said{}, refuse(http.StatusUnprocessableEntity, "empty-text", "the text is empty: say something")
	case halved(b):
		return said{}, refuse(http.StatusUnprocessableEntity, "bad-text", "the text holds half a character, a surrogate without its other half: send whole ones")
	case strings.ContainsRune(*body.Text, 0):
		return said{}, refuse(http.StatusUnprocessableEntity, "bad-text", "the text must be without NUL")
	}
	return body, nil
}

var errBody = errors.New("no such body")

// parseSaid takes the fields by their exact names, each once: what a looser reader
// drops or takes for another would be said otherwise than it was sent.
func parseSaid(b []byte) (body said, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return said{}, errBody
	}
	fields := map[any]any{"text": &body.Text, "replyVia": &body.ReplyVia}
	for d.More() {
		name, err := d.Token()
		if err != nil || fields[name] == nil {
			return said{}, errBody
		}
		if err := d.Decode(fields[name]); err != nil {
			return said{}, err
		}
		delete(fields, name)
	}
	if _, err := d.Token(); err != nil {
		return said{}, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return said{}, errBody
	}
	return body, nil
}

// halved reports whether valid JSON has an escaped surrogate without its other half,
// which the decoder would take for another character.
func halved(b []byte) bool {
	high := false // the escape just before was the first half
	for i := 0; i < len(b); i++ {
		if b[i] != '\\' {
			if high {
				return true
			}
			continue
		}
		i++
		if b[i] != 'u' {
			if high {
				return true
			}
			continue
		}
		code, err := strconv.ParseUint(string(b[i+1:i+5]), 16, 16)
		first, second := code&0xfc00 == 0xd800, code&0xfc00 == 0xdc00
		if err != nil || high != second {
			return true
		}
		high = first
		i += 4
	}
	return high
}
