package httpread

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"runtime/debug"
	"time"
)

// flushBytes is how much of a history is written before it is sent.
const flushBytes = 16 << 10

// A frame is one event of a stream.
type frame struct {
	id    string // where to go on behind it; empty keeps what the client has
	event string
	data  []byte // one line
	last  bool   // the stream ends with it

	forget bool // the client is to forget the id that it has
}

// Names of events of a stream.
const (
	eventEvent      = "event"
	eventUnreadable = "unreadable"
	eventCaughtUp   = "caught-up"
	eventClosed     = "closed"
	eventJoined     = "joined" // of all sessions
	eventLeft       = "left"
	eventError      = "error"
)

func (f frame) appendTo(b *bytes.Buffer) {
	if f.id != "" {
		fmt.Fprintf(b, "id: %s\n", f.id)
	}
	if f.forget {
		b.WriteString("id: \n")
	}
	fmt.Fprintf(b, "event: %s\ndata: %s\n\n", f.event, f.data)
}

// A step is what a source of frames gave.
type step struct {
	frame frame
	err   error
}

// A stream is one client that is served frames.
type stream struct {
	h    *Handler
	w    http.ResponseWriter
	ctl  *http.ResponseController
	live bool         // history ended: nothing is held back any more
	held bytes.Buffer // of the history, not sent yet; at most flushBytes and one frame
	sent string       // the id behind what was written
}

var errBusy = refuse(http.StatusServiceUnavailable, "busy", "too many streams are open, or the server is stopping: try again")

// stream serves what source yields until one of both ends. An error of source
// before its first frame is returned, and nothing was answered then.
//
// Source runs beside the writing, so that there are heartbeats while it waits, but
// is never more than one frame ahead.
func (h *Handler) stream(w http.ResponseWriter, r *http.Request, source func(context.Context) iter.Seq2[frame, error]) error {
	if h.open.Err() != nil || !h.streams.TryAcquire(1) {
		return errBusy
	}
	defer h.streams.Release(1)
	ctx, cancel := context.WithCancel(r.Context())
	defer context.AfterFunc(h.open, cancel)()
	steps := h.pump(ctx, source)
	defer func() {
		cancel()
		for range steps { // what source uses is free when this returns
		}
	}()
	first, ok := <-steps
	if !ok {
		return errBusy
	}
	if first.err != nil {
		return first.err
	}
	s := &stream{h: h, w: w, ctl: http.NewResponseController(w)}
	err := s.serve(first, steps)
	if err != nil {
		h.o.Logger.Debug("stream dropped", "path", r.URL.Path, "session", r.PathValue("id"), "sent", s.sent, "error", err)
	}
	return nil
}

// pump runs source, one step ahead. The channel is closed when source has ended.
func (h *Handler) pump(ctx context.Context, source func(context.Context) iter.Seq2[frame, error]) <-chan step {
	steps := make(chan step)
	give := func(s step) bool {
		if ctx.Err() != nil {
			return false // what source says of that is no news
		}
		select {
		case steps <- s:
			return true
		case <-ctx.Done():
			return false
		}
	}
	go func() {
		defer close(steps)
		defer func() {
			if reason := recover(); reason != nil {
				h.o.Logger.Error("panic", "in", "stream", "reason", reason, "stack", string(debug.Stack()))
				give(step{err: fmt.Errorf("panic: %v", reason)})
			}
		}()
		for f, err := range source(ctx) {
			if !give(step{f, err}) {
				return
			}
		}
	}()
	return steps
}

// serve writes first and all steps behind it. An error says that the client does
// not take what is written.
func (s *stream) serve(first step, steps <-chan step) error {
	s.ctl.SetReadDeadline(time.Time{}) // the server's own bound is for requests that end
	s.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	s.w.Header().Set("Cache-Control", "no-store")
	s.w.Header().Set("X-Accel-Buffering", "no")
	s.w.WriteHeader(http.StatusOK)
	s.held.WriteString("retry: 2000\n\n")
	beat := time.NewTicker(s.h.o.Heartbeat)
	defer beat.Stop()
	if err := s.take(first); err != nil {
		return quiet(err)
	}
	for {
		select {
		case next, ok := <-steps:
			if !ok {
				return s.flush()
			}
			if err := s.take(next); err != nil {
				return quiet(err)
			}
			beat.Reset(s.h.o.Heartbeat)
		case <-beat.C:
			s.held.WriteString(":\n\n")
			if err := s.flush(); err != nil {
				return err
			}
		}
	}
}

// errLast ends a stream as it should end.
var errLast = errors.New("last frame")

func quiet(err error) error {
	if errors.Is(err, errLast) {
		return nil
	}
	return err
}

// take writes one step. An error of the source is the last thing that is written.
func (s *stream) take(next step) error {
	f := next.frame
	if next.err != nil {
		f = s.failure(next.err)
	}
	f.appendTo(&s.held)
	if f.id != "" {
		s.sent = f.id
	}
	s.live = s.live || f.event == eventCaughtUp
	if s.live || f.last || s.held.Len() >= flushBytes {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if f.last {
		return errLast
	}
	return nil
}

// failure is the frame that tells a client of err.
func (s *stream) failure(err error) frame {
	f := refusal(err)
	if f.Status >= http.StatusInternalServerError {
		s.h.o.Logger.Error("stream failed", "code", f.Code, "error", err)
	}
	event := eventError
	if gone(err) {
		event = eventClosed
	}
	b, _ := encode(problem{f.Say, f.Code}) // two strings can be encoded
	return frame{event: event, data: b, last: true}
}

// flush sends what is held. The client has to take it in time.
func (s *stream) flush() error {
	deadline := time.Now().Add(s.h.o.WriteWait)
	if err := s.ctl.SetWriteDeadline(deadline); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := s.w.Write(s.held.Bytes()); err != nil {
		return err
	}
	if s.held.Cap() > 4*flushBytes {
		s.held = bytes.Buffer{}
	}
	s.held.Reset()
	return s.ctl.Flush()
}
