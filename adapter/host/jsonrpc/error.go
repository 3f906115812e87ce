package jsonrpc

import (
	"errors"
	"strconv"

	"github.com/docket-go/docket/adapter/host"
)

// The codes of JSON-RPC.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeNoMethod       = -32601
	CodeInvalidParams  = -32602
)

var (
	// ErrTooLong is the answer of a program that is too long to be read.
	ErrTooLong = errors.New("jsonrpc: the answer is too long to be read")

	// ErrAnswer is returned by [Conn.Ask] for a result that is none.
	ErrAnswer = errors.New("jsonrpc: the answer makes no sense")
)

// An Error is an error that a program answered with. Its data is not even read.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error says the code, and what of the message can be kept.
func (e *Error) Error() string {
	said := "error " + strconv.Itoa(e.Code)
	if text := e.Said(); text != "" {
		said += ": " + text
	}
	return said
}

// Said returns what of the message can be kept.
func (e *Error) Said() string { return host.Redact(e.Message) }

// Rejected reports whether the code proves that the request was not carried out.
func (e *Error) Rejected() bool {
	switch e.Code {
	case CodeParse, CodeInvalidRequest, CodeNoMethod, CodeInvalidParams:
		return true
	}
	return false
}
