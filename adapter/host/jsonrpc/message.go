package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/docket-go/docket/adapter/host"
)

// maxID bounds the id of a request that is answered, in bytes.
const maxID = 1 << 10

// A message is whatever a line holds.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// decode reads one line, and reports whether it is a message. What it returns shares
// no memory with the line.
func decode(line []byte) (m message, ok bool) {
	ok = json.Unmarshal(line, &m) == nil && len(m.ID) <= maxID
	return m, ok
}

// headOf returns what the beginning of a message names before it is cut off.
func headOf(head []byte) (m message) {
	_ = json.Unmarshal(host.WholeFields(head), &m) // a field of another kind is none
	return m
}

// answer returns the answer that the message is.
func (m message) answer() Answer {
	if m.Error == nil || bytes.Equal(m.Error, []byte("null")) {
		return Answer{Result: m.Result}
	}
	said := &Error{}
	_ = json.Unmarshal(m.Error, said) // an error without a code is one, too
	return Answer{Result: m.Result, Err: said}
}

// encode returns the line of a message. Texts keep their bytes.
func (c *Conn) encode(m map[string]any) ([]byte, error) {
	if !c.options.Bare {
		m["jsonrpc"] = "2.0"
	}
	var line bytes.Buffer
	e := json.NewEncoder(&line)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, fmt.Errorf("jsonrpc: %w", err)
	}
	return line.Bytes(), nil
}
