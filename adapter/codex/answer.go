package codex

import (
	"errors"
	"fmt"
	"strings"

	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

var (
	errTooLong = errors.New("codex: the answer is too long to be read")
	errAnswer  = errors.New("codex: the answer makes no sense")
)

// answered returns an error of package jsonrpc as this package says it.
func answered(err error) error {
	var said *jsonrpc.Error
	switch {
	case errors.As(err, &said):
		return fmt.Errorf("codex answered with %w", said)
	case errors.Is(err, jsonrpc.ErrTooLong):
		return errTooLong
	}
	return err
}

// writing reports whether another process has the thread. The protocol has no code for
// it: a text that changes makes it an error like any other.
func writing(e *jsonrpc.Error) bool { return strings.Contains(e.Message, "active writer") }
