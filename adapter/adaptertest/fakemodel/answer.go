package fakemodel

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	longestEcho = 4 << 10
	slowStep    = 100 * time.Millisecond
)

// object is a JSON object of an answer.
type object = map[string]any

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	if name, ok := strings.CutPrefix(r.URL.Path, "/release/"); ok {
		s.Release(name)
		return
	}
	if strings.Contains(r.URL.Path, ":countTokens") {
		plain(w, object{"totalTokens": len(raw) / 4})
		return
	}
	q := read(r, raw)
	if err := s.note(&q); err != nil {
		http.Error(w, err.Error(), http.StatusInsufficientStorage)
		return
	}
	switch q.API {
	case apiModels:
		plain(w, object{"object": "list", "data": []any{object{"id": "stub", "object": "model", "created": 1, "owned_by": "stub"}}})
	case apiOther:
		http.Error(w, `{"error":{"message":"fakemodel: no such path","type":"not_found"}}`, http.StatusNotFound)
	default:
		s.answer(w, r, q)
	}
}

// answer obeys the directives of the text and answers.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, q Request) {
	d := directivesIn(q.Text)
	if d.status != 0 {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(d.status)
		fmt.Fprintf(w, `{"error":{"code":%d,"message":"fakemodel status %d","type":"stub_error","status":"STUB"}}`, d.status, d.status)
		return
	}
	if !pause(r.Context(), d.sleep) {
		return
	}
	if d.wait != "" {
		select {
		case <-s.gate(d.wait):
		case <-r.Context().Done():
			return
		}
	}
	a := reply{q: q, id: fmt.Sprintf("stub%d", q.Seq), text: ack(q.Text)}
	if d.tool != "" && !q.ToolResult && slices.Contains(q.Tools, d.tool) {
		a.tool, a.input = d.tool, d.input
	}
	if !q.Stream {
		plain(w, a.plain())
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	steps := int(d.slow / slowStep)
	for i, e := range a.events(steps) {
		if i > 0 && d.cut {
			panic(http.ErrAbortHandler)
		}
		if e.pause && !pause(r.Context(), slowStep) {
			return
		}
		e.send(w)
	}
}

func ack(text string) string {
	if len(text) <= longestEcho {
		return "ACK " + text
	}
	return fmt.Sprintf("ACK %d bytes, SHA-256 %x", len(text), sha256.Sum256([]byte(text)))
}

// pause reports whether the client is still there after d.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func plain(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that is gone gets nothing
}

// reply is one answer, not yet in a form.
type reply struct {
	q           Request
	id          string
	text        string
	tool, input string // a call of a tool instead of the text
}

// event is one server-sent event.
type event struct {
	name  string
	data  any  // nil means the mark of the end, [DONE]
	pause bool // it comes one slow step after the one before
}

func (e event) send(w http.ResponseWriter) {
	var b bytes.Buffer
	if e.name != "" {
		fmt.Fprintf(&b, "event: %s\n", e.name)
	}
	b.WriteString("data: ")
	if e.data == nil {
		b.WriteString("[DONE]\n")
	} else {
		_ = json.NewEncoder(&b).Encode(e.data) // always of the types that encode
	}
	b.WriteByte('\n')
	_, _ = w.Write(b.Bytes())
	_ = http.NewResponseController(w).Flush()
}

func (a reply) plain() any {
	switch a.q.API {
	case apiChat:
		return a.chat()
	case apiResponses:
		return a.response("completed", a.items("completed"))
	}
	return a.candidate(a.geminiPart(), "STOP")
}

func (a reply) events(steps int) []event {
	switch a.q.API {
	case apiChat:
		return a.chatEvents(steps)
	case apiResponses:
		return a.responseEvents(steps)
	}
	return a.geminiEvents(steps)
}

// pieces cuts the text into what comes before each pause, and its rest.
func (a reply) pieces(steps int) []string {
	runes := []rune(a.text)
	all := make([]string, 0, steps+1)
	for i := range steps + 1 {
		all = append(all, string(runes[i*len(runes)/(steps+1):(i+1)*len(runes)/(steps+1)]))
	}
	return all
}
