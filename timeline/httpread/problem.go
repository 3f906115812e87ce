package httpread

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A RefusalError is how a request is answered that is not granted. The functions
// in [Options] return one for what a client can do something about; any other error
// of theirs is answered as an internal one, without its words.
type RefusalError struct {
	Status int    // of HTTP, 400 or above
	Code   string // for programs: lower-case words with hyphens
	Say    string // for people: what is wrong, and what to do
	Err    error  // the cause, which is logged and not shown; may be nil
}

func (e *RefusalError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: %v", e.Say, e.Err)
	}
	return e.Say
}

// Unwrap returns the cause.
func (e *RefusalError) Unwrap() error { return e.Err }

func refuse(status int, code, say string, args ...any) error {
	return &RefusalError{Status: status, Code: code, Say: fmt.Sprintf(say, args...)}
}

func notOffered(what string) error {
	return refuse(http.StatusNotImplemented, "not-offered", "this server does not offer %s", what)
}

// An answered error is one that has an answer of its own.
type answered struct {
	is     error
	status int
	code   string
	say    string
}

// refusals are tried in order; the first that fits counts.
func refusals() []answered {
	return []answered{
		{session.ErrBadID, http.StatusBadRequest, "bad-id", "this can be no session's id: take one that /api/sessions names"},
		{session.ErrNotFound, http.StatusNotFound, "no-session", "no such session: /api/sessions names those that there are"},
		{session.ErrUnreadable, http.StatusInternalServerError, "unreadable-record", "the session's record cannot be read: run docket verify on the server"},
		{session.ErrUnsafe, http.StatusInternalServerError, "unsafe-session", "the session's directory is not safe to use: run docket verify on the server"},
		{timeline.ErrMalformedCursor, http.StatusBadRequest, "cursor-malformed", "this is no cursor: take one that an answer or an event named"},
		{timeline.ErrForeignCursor, http.StatusConflict, "cursor-foreign", "the cursor belongs to another timeline: begin again without it"},
		{timeline.ErrFutureCursor, http.StatusConflict, "cursor-future", "the cursor is past the end of the timeline: begin again without it"},
		{timeline.ErrClosed, http.StatusNotFound, "session-closed", "the session was closed: /api/sessions names those that there are"},
		{lock.ErrClosed, http.StatusNotFound, "session-closed", "the session was closed: /api/sessions names those that there are"},
		{timeline.ErrCorrupt, http.StatusInternalServerError, "unreadable-timeline", "the timeline cannot be read here: run docket verify on the server"},
		{timeline.ErrText, http.StatusUnprocessableEntity, "bad-text", "the text must be valid UTF-8 without NUL"},
		{timeline.ErrTooLarge, http.StatusRequestEntityTooLarge, "text-too-large", "the text is too large: send a shorter one"},
		{lock.ErrTimeout, http.StatusServiceUnavailable, "locked", "the session is locked by another process: try again"},
		{lock.ErrBusy, http.StatusServiceUnavailable, "locked", "the session is locked by another process: try again"},
		{context.DeadlineExceeded, http.StatusServiceUnavailable, "timeout", "it took too long: try again"},
	}
}

const internalSay = "something went wrong on the server: its log says what"

// refusal returns how err is answered.
func refusal(err error) *RefusalError {
	var as *RefusalError
	if errors.As(err, &as) {
		return as
	}
	for _, r := range refusals() {
		if errors.Is(err, r.is) {
			return &RefusalError{Status: r.status, Code: r.code, Say: r.say, Err: err}
		}
	}
	return &RefusalError{
		Status: http.StatusInternalServerError, Code: "internal", Err: err,
		Say: internalSay,
	}
}

// problem is the JSON of an error.
type problem struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

// fail answers with err. A client that went away gets nothing.
func (h *Handler) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		return
	}
	f := refusal(err)
	if f.Status >= http.StatusInternalServerError && f.Status != http.StatusNotImplemented {
		h.o.Logger.Error("request failed", "method", r.Method, "path", r.URL.Path, "session", r.PathValue("id"), "code", f.Code, "error", err)
	}
	if f.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "2")
	}
	if errors.Is(err, errBusy) {
		w.Header().Set("Connection", "close") // it would keep a place from who asks for something else
	}
	if f.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer realm="docket"`)
	}
	w.Header().Del("ETag")
	w.Header().Set("Cache-Control", "no-store")
	writeJSON(w, f.Status, problem{f.Say, f.Code})
}
