// Package fakemodel is a model server for tests: it lets a real coding-agent
// program run whole turns on loopback, without an account, and it keeps the list
// of what it was asked, which is the judge of what reached the model, how often
// and in which order.
//
// # What it keeps
//
// Every request, in memory, and in [Options.Log] where one is given. A request is
// noted before its answer begins, so an answer that anybody saw is in the list.
//
// # Guarantees
//
// It answers four forms, streamed as server-sent events or plain as the request
// asks: OpenAI's /v1/responses and /v1/chat/completions, Gemini's
// streamGenerateContent and generateContent, and the list of models. The answer is
// "ACK " and the last user text, which is the last text part of the last message
// of the user, as harnesses put context of their own into what stands before. An
// answer above 4 KiB names the length and the SHA-256 of the text instead.
//
// A text can ask for trouble; each directive works once in a text:
//
//	[[sleep 3s]]          nothing for that time, then the answer
//	[[slow 3s]]           the answer is spread over that time
//	[[wait NAME]]         nothing until [Server.Release] of that name
//	[[status 500]]        that HTTP status instead of an answer
//	[[cut]]               the beginning of an answer, then the connection is closed
//	[[tool NAME {json}]]  a call of that tool, if the request offers it; ACK follows its result
//
// A server listens on loopback only, and is safe for concurrent use.
//
// # Crashes
//
// A process that dies has written a whole line for each request that it began to
// answer.
//
// # Format
//
// The log is one JSON object a line, the fields of [Request].
package fakemodel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Options configures a [Server]. The zero value is ready to use.
type Options struct {
	// Addr is the address to listen on, which must be loopback. Empty means a
	// free port of 127.0.0.1.
	Addr string

	// Log gets a line for each request. Nil means that only memory does.
	Log io.Writer
}

// A Request is one question that the server was asked.
type Request struct {
	Seq    int       `json:"seq"` // from 1, in order of arrival
	Time   time.Time `json:"ts"`
	API    string    `json:"api"` // responses, chat, gemini, models or other
	Path   string    `json:"path"`
	Model  string    `json:"model,omitempty"`
	Stream bool      `json:"stream"`

	Text  string   `json:"text"`            // the last user text
	Users []string `json:"users,omitempty"` // the last text part of each message of the user, Text included
	Tools []string `json:"tools,omitempty"` // the names of the tools that are offered

	// ToolResult says that the request brings the result of a tool, and so goes on
	// with a turn instead of beginning one.
	ToolResult bool `json:"toolResult"`

	Body []byte `json:"-"`
}

// Helper reports whether a harness asked on its own account, for a title or a
// summary, as it does without offering tools.
func (r Request) Helper() bool { return len(r.Tools) == 0 }

// Begins reports whether the request begins a turn.
func (r Request) Begins() bool { return !r.Helper() && !r.ToolResult }

// A Server is a running model server.
type Server struct {
	http *http.Server
	url  string

	mu       sync.Mutex
	log      io.Writer
	requests []Request
	released map[string]chan struct{}
	grown    chan struct{} // closed and replaced at each request
}

// Start starts a server. It runs until [Server.Close].
func Start(o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return nil, fmt.Errorf("fakemodel: %w", err)
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("fakemodel: %s: not a loopback address: use 127.0.0.1", o.Addr)
	}
	l, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("fakemodel: %w", err)
	}
	s := &Server{url: "http://" + l.Addr().String(), log: o.Log, released: map[string]chan struct{}{}, grown: make(chan struct{})}
	s.http = &http.Server{Handler: http.HandlerFunc(s.serve)}
	go func() { _ = s.http.Serve(l) }()
	return s, nil
}

// URL is where the server is, without a path.
func (s *Server) URL() string { return s.url }

// Close ends the server with all its answers.
func (s *Server) Close() error { return s.http.Close() }

// Requests returns all requests so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Turns returns the last user text of every request that began a turn, in order.
// A harness that repeats a failed request shows up twice.
func (s *Server) Turns() []string {
	var texts []string
	for _, r := range s.Requests() {
		if r.Begins() {
			texts = append(texts, r.Text)
		}
	}
	return texts
}

// Await waits until done says of the requests so far that it is true.
func (s *Server) Await(ctx context.Context, done func([]Request) bool) error {
	for {
		s.mu.Lock()
		all, grown := slices.Clone(s.requests), s.grown
		s.mu.Unlock()
		if done(all) {
			return nil
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return fmt.Errorf("fakemodel: after %d requests: %w", len(all), ctx.Err())
		}
	}
}

// Release lets the answers go on that wait for that name, and those to come.
func (s *Server) Release(name string) {
	c := s.gate(name)
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-c:
	default:
		close(c)
	}
}

func (s *Server) gate(name string) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.released[name]
	if !ok {
		c = make(chan struct{})
		s.released[name] = c
	}
	return c
}

// note puts a request on record. The answer must not have begun.
func (s *Server) note(r *Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Seq, r.Time = len(s.requests)+1, time.Now().UTC()
	if s.log != nil {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		if n, err := s.log.Write(append(line, '\n')); err != nil {
			return errors.Join(err, fmt.Errorf("log: wrote %d bytes of %d", n, len(line)+1))
		}
	}
	s.requests = append(s.requests, *r)
	close(s.grown)
	s.grown = make(chan struct{})
	return nil
}
