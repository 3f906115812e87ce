package jsonrpc

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/docket-go/docket/adapter/host"
)

// An Answer is what a program answered to a request: a result, or an error, which is
// an [*Error] or [ErrTooLong].
type Answer struct {
	Result json.RawMessage
	Err    error
}

// A call is a request that waits for its answer.
type call struct {
	line   *host.Line
	answer func(Answer)
}

// Call sends a request. The goroutine of [Conn.Serve] calls answer, at most once: not
// if the connection ends before. An error is that of params which are no JSON.
func (c *Conn) Call(method string, params any, answer func(Answer)) (*host.Line, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	line, err := c.encode(map[string]any{"id": c.last, "method": method, "params": params})
	if err != nil {
		return nil, err
	}
	sent := c.out.Send(line)
	c.calls[c.last] = call{sent, answer}
	return sent, nil
}

// Ask sends a request, waits for the answer and decodes its result. The error is
// [ErrAnswer] if that cannot be done, an [*Error] or [ErrTooLong] if that is the
// answer, or why there is none; each after the method. A request without an answer may
// have been carried out.
func (c *Conn) Ask(ctx context.Context, method string, params, result any) error {
	answers := make(chan Answer, 1)
	sent, err := c.Call(method, params, func(a Answer) { answers <- a })
	if err != nil {
		return err
	}
	var got Answer
	select {
	case got = <-answers:
	case <-c.done:
		select {
		case got = <-answers: // it came before the end
		default:
			return fmt.Errorf("%s: %w", method, c.Cause())
		}
	case <-ctx.Done():
		if !c.Withdraw(sent) {
			c.forget(sent)
		}
		return fmt.Errorf("%s: no answer: %w", method, context.Cause(ctx))
	}
	if got.Err == nil && json.Unmarshal(got.Result, result) != nil {
		got.Err = ErrAnswer
	}
	if got.Err != nil {
		return fmt.Errorf("%s: %w", method, got.Err)
	}
	return nil
}

// Notify sends a notification. Nil params are left out. An error is that of params
// which are no JSON.
func (c *Conn) Notify(method string, params any) (*host.Line, error) {
	m := map[string]any{"method": method}
	if params != nil {
		m["params"] = params
	}
	line, err := c.encode(m)
	if err != nil {
		return nil, err
	}
	return c.out.Send(line), nil
}

// Answer answers a request of the program.
func (c *Conn) Answer(id json.RawMessage, result any) *host.Line {
	line, err := c.encode(map[string]any{"id": id, "result": result})
	if err != nil {
		return c.Refuse(id, CodeInvalidRequest, "no answer")
	}
	return c.out.Send(line)
}

// Refuse answers a request of the program with an error.
func (c *Conn) Refuse(id json.RawMessage, code int, text string) *host.Line {
	line, err := c.encode(map[string]any{"id": id, "error": map[string]any{"code": code, "message": text}})
	if err != nil {
		return host.Unsent(err)
	}
	return c.out.Send(line)
}

// Begun reports whether any of the line may have been written.
func (c *Conn) Begun(l *host.Line) bool { return c.out.Begun(l) }

// Withdraw takes back a line of which nothing was written, and reports whether it could.
// An answer to it is passed over.
func (c *Conn) Withdraw(l *host.Line) bool {
	if !c.out.Withdraw(l) {
		return false
	}
	c.forget(l)
	return true
}

// GiveUp ends the wait for a program that should have read the line by now, for that
// reason. It takes back a line of which nothing was written, and reports whether it
// could. One that was begun has a moment more; then the connection is lost, as a half
// line holds up everything behind it. Unread says that the program does not read.
func (c *Conn) GiveUp(l *host.Line, cause error) (withdrawn bool, unread error) {
	unread = fmt.Errorf("%s does not read what it is sent: %w", c.options.Name, cause)
	if c.Withdraw(l) {
		return true, unread
	}
	moment := time.NewTimer(lastMoment)
	defer moment.Stop()
	select {
	case <-l.Done():
	case <-moment.C:
		c.Lose(unread)
		<-l.Done()
	}
	return false, unread
}

// answered gives an answer to the call that it answers. One that answers none, or
// one a second time, or what was not yet asked, is passed over.
func (c *Conn) answered(raw json.RawMessage, a Answer) {
	id, err := strconv.ParseUint(string(raw), 10, 64)
	if err != nil {
		return
	}
	c.mu.Lock()
	asked, waits := c.calls[id]
	if waits = waits && c.out.Begun(asked.line); waits {
		delete(c.calls, id)
	}
	c.mu.Unlock()
	if waits {
		asked.answer(a)
	}
}

// forget passes over the answer to a request.
func (c *Conn) forget(l *host.Line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.calls, func(_ uint64, asked call) bool { return asked.line == l })
}
