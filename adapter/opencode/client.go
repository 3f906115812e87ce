package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/docket-go/docket/adapter"
)

const (
	longestAnswer = 64 << 20 // a message with its text
	longestFault  = 300      // of what the server says of an error, for people
)

// A StatusError is an answer of opencode that is not what the request asks for.
type StatusError struct {
	Request string // method and path
	Status  int
	Said    string // what the server said, cut short
}

// Error says what opencode answered to which request.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: opencode answered %d %s: %s", e.Request, e.Status, http.StatusText(e.Status), e.Said)
}

// call makes one request with the answer read into answer, which may be nil. An error
// is a [*StatusError], or one of the network.
func (a *Adapter) call(ctx context.Context, method, path string, query url.Values, ask, answer any) error {
	if a.options.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, a.options.Timeout, fmt.Errorf("no answer within %s: %w", a.options.Timeout, context.DeadlineExceeded))
		defer cancel()
	}
	r, err := a.request(ctx, method, path, query, ask)
	if err != nil {
		return err
	}
	response, err := a.client.Do(r)
	if err != nil {
		return a.unreached(ctx, err)
	}
	defer response.Body.Close()
	b, err := io.ReadAll(io.LimitReader(response.Body, longestAnswer))
	if err != nil {
		return a.unreached(ctx, err)
	}
	if response.StatusCode/100 != 2 {
		return &StatusError{method + " " + path, response.StatusCode, said(b)}
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(b, answer); err != nil {
		return fmt.Errorf("%s %s: not the answer of opencode serve: %w: see whether url is right", method, path, err)
	}
	return nil
}

func (a *Adapter) request(ctx context.Context, method, path string, query url.Values, ask any) (*http.Request, error) {
	var body io.Reader
	if ask != nil {
		b, err := encode(ask)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(b)
	}
	if a.options.Directory != "" {
		if query == nil {
			query = url.Values{}
		}
		query.Set("directory", a.options.Directory)
	}
	r, err := http.NewRequestWithContext(ctx, method, a.base.String()+path+"?"+query.Encode(), body)
	if err != nil {
		return nil, err
	}
	if ask != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	password, err := a.password()
	if err != nil {
		return nil, fmt.Errorf("password: %w", err)
	}
	if password != "" {
		r.SetBasicAuth(a.options.Username, password)
	}
	return r, nil
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// unreached says what became of a request that has no answer.
func (a *Adapter) unreached(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%s: %w", a.base, cause)
	}
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	if notConnected(err) {
		return adapter.Because(adapter.ErrGone, fmt.Errorf("%s: %w: start opencode serve there, or set url", a.base, err))
	}
	return fmt.Errorf("%s: %w", a.base, err)
}

// notConnected reports whether an error proves that nothing was sent.
func notConnected(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// notFound reports whether opencode said that something is not there.
func notFound(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Status == http.StatusNotFound
}

// advised adds what to do to an error that has an answer of the server in it.
func advised(err error) error {
	var status *StatusError
	if !errors.As(err, &status) {
		return err
	}
	switch status.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return adapter.Because(adapter.ErrBlocked, fmt.Errorf("%w: set %s or password-file, and username", err, passwordVariable))
	case http.StatusNotFound:
		return adapter.Because(adapter.ErrGone, err)
	}
	return err
}

// said is the answer of a server for one line of text.
func said(b []byte) string {
	var fault struct {
		Data    struct{ Message string }
		Message string
	}
	text := string(b)
	if json.Unmarshal(b, &fault) == nil && fault.Data.Message+fault.Message != "" {
		text = fault.Data.Message + fault.Message
	}
	line := bytes.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, bytes.ToValidUTF8([]byte(text), nil))
	return string(bytes.ToValidUTF8(line[:min(len(line), longestFault)], nil))
}
