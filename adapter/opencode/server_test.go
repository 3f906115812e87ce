package opencode_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/adapter"
)

// A server answers as opencode serve does, with a model that answers at once, and
// counts what it was asked.
type server struct {
	http *httptest.Server

	mu       sync.Mutex
	sessions map[string]bool
	messages []stored
	posts    int               // of prompts
	made     int               // sessions
	busy     map[string]string // what /session/status says of every session, if not nil
	asking   string            // permission or question
	hidden   int               // so many looks do not find a message
	hang     chan struct{}     // closed when a prompt arrived that is neither stored nor answered
	status   int               // instead of every answer
	posted   int               // instead of the answer to a prompt, once it is stored
	drop     bool              // no answer to a prompt, once it is stored
	users    []string          // user:password of each request
	dirs     []string          // the directory of each request
	bodies   []string          // of the prompts
}

// stored is one message.
type stored struct {
	Info struct {
		ID        string `json:"id"`
		SessionID string `json:"sessionID"`
		Role      string `json:"role"`
		ParentID  string `json:"parentID,omitempty"`
	} `json:"info"`
	Parts []json.RawMessage `json:"parts"`
}

func startServer(t testing.TB) *server {
	s := &server{sessions: map[string]bool{}}
	s.http = httptest.NewServer(s.routes())
	t.Cleanup(func() {
		s.http.CloseClientConnections()
		s.http.Close()
	})
	return s
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	on := func(pattern string, answer func(w http.ResponseWriter, r *http.Request) any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			user, password, _ := r.BasicAuth()
			s.mu.Lock()
			defer s.mu.Unlock()
			s.users = append(s.users, user+":"+password)
			s.dirs = append(s.dirs, r.URL.Query().Get("directory"))
			if s.status != 0 {
				http.Error(w, `{"name":"Fault","data":{"message":"as told"}}`, s.status)
				return
			}
			if v := answer(w, r); v != nil {
				_ = json.NewEncoder(w).Encode(v)
			}
		})
	}
	on("POST /session", func(http.ResponseWriter, *http.Request) any {
		s.made++
		id := fmt.Sprintf("ses_%d", s.made)
		s.sessions[id] = true
		return map[string]any{"id": id}
	})
	on("GET /session/status", func(http.ResponseWriter, *http.Request) any { return s.statuses() })
	on("POST /session/{id}/abort", func(http.ResponseWriter, *http.Request) any { s.busy = nil; return true })
	on("GET /session/{id}/message/{mid}", s.oneMessage)
	on("GET /session/{id}/message", func(_ http.ResponseWriter, r *http.Request) any { return s.of(r.PathValue("id"), 1) })
	on("POST /session/{id}/prompt_async", s.take)
	for _, what := range []string{"permission", "question"} {
		on("GET /"+what, func(http.ResponseWriter, *http.Request) any {
			if s.asking == what {
				return []any{map[string]any{"id": "x", "sessionID": "ses_1"}}
			}
			return []any{}
		})
	}
	on("GET /agent", func(http.ResponseWriter, *http.Request) any { return []any{map[string]any{"name": "build"}} })
	on("GET /config/providers", func(http.ResponseWriter, *http.Request) any {
		return map[string]any{"providers": []any{map[string]any{"id": "p", "models": map[string]any{"a/b": map[string]any{}}}}}
	})
	return mux
}

func (s *server) statuses() any {
	all := map[string]any{}
	for id := range s.sessions {
		if s.busy != nil {
			all[id] = s.busy
		}
	}
	return all
}

func (s *server) oneMessage(w http.ResponseWriter, r *http.Request) any {
	for _, m := range s.messages {
		if m.Info.ID != r.PathValue("mid") || m.Info.SessionID != r.PathValue("id") {
			continue
		}
		if s.hidden == 0 {
			return m
		}
		s.hidden--
	}
	http.Error(w, `{"name":"NotFoundError","data":{"message":"Message not found"}}`, http.StatusNotFound)
	return nil
}

// of returns the newest n messages of a session.
func (s *server) of(session string, n int) []stored {
	all := []stored{}
	for _, m := range s.messages {
		if m.Info.SessionID == session {
			all = append(all, m)
		}
	}
	return all[max(0, len(all)-n):]
}

func (s *server) take(w http.ResponseWriter, r *http.Request) any {
	b, err := io.ReadAll(r.Body)
	if s.hang != nil {
		close(s.hang)
		s.hang = nil
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
		return nil
	}
	var asked struct {
		MessageID string
		Parts     []json.RawMessage
	}
	if err != nil || json.Unmarshal(b, &asked) != nil || !strings.HasPrefix(asked.MessageID, "msg_") {
		http.Error(w, `{"name":"BadRequest","data":{"message":"bad"}}`, http.StatusBadRequest)
		return nil
	}
	if !s.sessions[r.PathValue("id")] {
		http.Error(w, `{"name":"NotFoundError","data":{"message":"Session not found"}}`, http.StatusNotFound)
		return nil
	}
	s.posts++
	s.bodies = append(s.bodies, string(b))
	s.store(r.PathValue("id"), asked.MessageID, asked.Parts)
	switch {
	case s.drop:
		panic(http.ErrAbortHandler)
	case s.posted != 0:
		http.Error(w, "as told", s.posted)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
	return nil
}

// store keeps a message with an answer to it; a repetition replaces its parts.
func (s *server) store(session, id string, parts []json.RawMessage) {
	for i, m := range s.messages {
		if m.Info.ID == id {
			s.messages[i].Parts = parts
			return
		}
	}
	var question, answer stored
	question.Info.ID, question.Info.SessionID, question.Info.Role, question.Parts = id, session, "user", parts
	answer.Info.ID, answer.Info.SessionID, answer.Info.Role, answer.Info.ParentID = id+"-answer", session, "assistant", id
	s.messages = append(s.messages, question, answer)
}

// change changes how the server answers.
func (s *server) change(how func(s *server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	how(s)
}

// received returns the prompts that are stored.
func (s *server) received() (got []adapter.Prompt, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.messages {
		if m.Info.Role == "user" {
			p, err := promptOf(m)
			if err != nil {
				return nil, err
			}
			got = append(got, p)
		}
	}
	return got, nil
}

// promptOf reads a prompt from what opencode shows of a message.
func promptOf(m stored) (p adapter.Prompt, err error) {
	var part struct {
		Text     string
		Metadata struct {
			Docket struct {
				MID, Session, From string
				Attributes         map[string]string
			}
		}
	}
	if len(m.Parts) != 1 {
		return p, fmt.Errorf("message %s: got %d parts, want 1", m.Info.ID, len(m.Parts))
	}
	err = json.Unmarshal(m.Parts[0], &part)
	d := part.Metadata.Docket
	return adapter.Prompt{MID: d.MID, Session: d.Session, From: d.From, Text: part.Text, Attributes: d.Attributes}, err
}
