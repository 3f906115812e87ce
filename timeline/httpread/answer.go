package httpread

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docket-go/docket/timeline"
)

// maxAnswerBytes is where a list of texts is cut off, if it holds one at least.
const maxAnswerBytes = 4 << 20

// encode is JSON without the escapes that are for HTML, which no answer is.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)+1))
	w.WriteHeader(status)
	w.Write(append(b, '\n')) // a client that went away is told nothing
	return nil
}

// answer writes v with a tag of its bytes, or 304 to a client that has them.
func answer(w http.ResponseWriter, r *http.Request, v any) error {
	b, err := encode(v)
	if err != nil {
		return err
	}
	if known(w, r, tag(b)) {
		return nil
	}
	return writeJSON(w, http.StatusOK, json.RawMessage(b))
}

// known sets the entity tag, and answers 304 if the client has what it stands for.
func known(w http.ResponseWriter, r *http.Request, etag string) bool {
	w.Header().Set("ETag", etag)
	w.Header().Set("Cache-Control", "private, no-cache")
	w.Header().Add("Vary", "Authorization")
	for _, list := range r.Header.Values("If-None-Match") {
		for one := range strings.SplitSeq(list, ",") {
			if one = strings.TrimPrefix(strings.TrimSpace(one), "W/"); one == etag {
				w.WriteHeader(http.StatusNotModified)
				return true
			}
		}
	}
	return false
}

func tag(parts ...[]byte) string {
	sum := sha256.Sum256(slices.Concat(parts...))
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}

// many are the parameters that may be there more than once.
var many = []string{"mid", "match"}

// query returns the parameters, of which only those that are allowed may be there, each
// once unless it is one of the many.
func query(r *http.Request, allowed ...string) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "bad-query", "the query cannot be understood: escape it")
	}
	for name, values := range q {
		if !slices.Contains(allowed, name) {
			return nil, refuse(http.StatusBadRequest, "bad-query", "%s is no parameter here: %s", strconv.QuoteToASCII(shorten(name, 40)), oneOf(allowed))
		}
		if len(values) > 1 && !slices.Contains(many, name) {
			return nil, refuse(http.StatusBadRequest, "bad-query", "%s is there more than once: give it once", name)
		}
	}
	return q, nil
}

func oneOf(allowed []string) string {
	if len(allowed) == 0 {
		return "there are none"
	}
	return "give " + strings.Join(allowed, ", ")
}

// limit returns how many things are asked for.
func limit(q url.Values) (int, error) {
	text := q.Get("limit")
	if text == "" {
		return MaxPage, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > MaxPage {
		return 0, refuse(http.StatusBadRequest, "bad-limit", "limit must be a number from 1 to %d", MaxPage)
	}
	return n, nil
}

// public returns the event as it is stored, less private fields, with its display
// word, and with the session where that is not empty. It is one line: a line of
// another writer may hold a carriage return between its fields, which would end a
// line of a stream.
func public(session string, e timeline.Event) ([]byte, error) {
	added, err := encode(struct {
		Session string `json:"session,omitempty"`
		Display string `json:"display,omitempty"`
	}{session, e.Display()})
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := json.Compact(&b, e.JSON()); err != nil {
		return nil, err
	}
	if len(added) == len("{}") {
		return b.Bytes(), nil
	}
	b.Truncate(b.Len() - 1)
	b.WriteByte(',')
	b.Write(added[1:])
	return b.Bytes(), nil
}

// stamp returns the time as it is stored, and nil for none.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	s := t.UTC().Format("2006-01-02T15:04:05.000Z")
	return &s
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// shorten returns the first n characters of s, with an ellipsis if there are more.
func shorten(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i] + "…"
		}
	}
	return s
}
