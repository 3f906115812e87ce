package acp

import (
	"errors"
	"strconv"
	"strings"

	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

// codeAuthRequired is the code that the protocol adds to those of JSON-RPC.
const codeAuthRequired = -32000

var errAnswer = errors.New("acp: the agent's answer makes no sense")

// An agentError is an error that the agent answered with.
type agentError struct{ said *jsonrpc.Error }

// agentErrorIn returns the error that the agent answered with, if err is one.
func agentErrorIn(err error) (e agentError, is bool) {
	is = errors.As(err, &e.said)
	return e, is
}

// Error says what kind of error it is, and what of its message can be kept.
func (e agentError) Error() string {
	kind := "error"
	switch e.said.Code {
	case jsonrpc.CodeParse, jsonrpc.CodeInvalidRequest, jsonrpc.CodeInvalidParams:
		kind = "invalid request"
	case jsonrpc.CodeNoMethod:
		kind = "no such method"
	case codeAuthRequired:
		kind = "a login is required"
	}
	said := "the agent answered: " + kind + " " + strconv.Itoa(e.said.Code)
	if text := e.said.Said(); text != "" && !strings.EqualFold(text, kind) {
		said += ": " + text
	}
	return said
}

// Unwrap returns the error as JSON-RPC has it.
func (e agentError) Unwrap() error { return e.said }

// login reports whether the agent wants a login first.
func (e agentError) login() bool { return e.said.Code == codeAuthRequired }

// rejected reports whether the error proves that the request was not carried out.
func (e agentError) rejected() bool { return e.said.Rejected() || e.login() }

// code returns the stable code of the error.
func (e agentError) code() string {
	switch {
	case e.login():
		return CodeAuthRequired
	case e.rejected():
		return CodeRejected
	}
	return CodeAgentError
}
