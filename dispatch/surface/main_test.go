package surface_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/surface"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/httpread"
	"github.com/docket-go/docket/timeline/session"
)

// A harness is an agent whose answer a test decides.
type harness struct {
	mu     sync.Mutex
	answer error
	during func() // called while it takes a message; may be nil
}

func (h *harness) Headless() bool { return false }

func (h *harness) Insert(context.Context, adapter.Prompt) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.during != nil {
		h.during()
	}
	return h.answer
}

// A place is a store with one session, s1, served over HTTP.
type place struct {
	t        testing.TB
	dir      string
	url      string
	agent    *harness
	nudged   []string
	mu       sync.Mutex
	dispatch *dispatch.Dispatcher
}

func newPlace(t testing.TB) *place {
	t.Helper()
	p := &place{t: t, dir: t.TempDir(), agent: &harness{}}
	store, err := session.OpenStore(p.dir, session.Options{Timeline: timeline.Options{Buffered: true}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Create(t.Context(), session.New{ID: "s1", Adapter: "agent"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Release() })
	p.dispatch = dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{{
		Name: "agent",
		Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return p.agent, nil },
	}}})
	t.Cleanup(func() { p.dispatch.Close() })
	h, err := httpread.New(surface.Options(p.dispatch, func(id string) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.nudged = append(p.nudged, id)
	}))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(func() {
		h.Close()
		server.Close()
	})
	p.url = server.URL
	return p
}

func (p *place) queueFile() string { return filepath.Join(p.dir, "sessions", "s1", "pending.json") }

// An answer is what the server says: a result, or code and words of an error.
type answer struct {
	status int
	Code   string
	Error  string

	MID                 string
	Replayed, Delivered bool
	Pending             []struct {
		MID, Text, State string
		Attempts         int
		LastError        string
		Handing          bool
	}
	States map[string]struct {
		State, Reason string
		EndedAt       string
		Handing       bool
	}
	Owed        int
	Unconfirmed *int
	Fault       *struct{ Code string }
	text        string
}

func (p *place) ask(method, path, body string, headers ...string) (a answer) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.url+"/api/sessions/"+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, json.Unmarshal(b, &a)); err != nil {
		p.t.Fatalf("%v: %s", err, b)
	}
	a.status, a.text = resp.StatusCode, string(b)
	return a
}

func (p *place) send(text, key string) answer {
	p.t.Helper()
	body, err := json.Marshal(map[string]string{"text": text, "replyVia": "note"})
	if err != nil {
		p.t.Fatal(err)
	}
	if key == "" {
		return p.ask("POST", "s1/input", string(body))
	}
	return p.ask("POST", "s1/input", string(body), "Idempotency-Key", key)
}

func (p *place) drain(answer error) {
	p.t.Helper()
	p.agent.mu.Lock()
	p.agent.answer = answer
	p.agent.mu.Unlock()
	p.dispatch.Drain(p.t.Context(), "s1", dispatch.DrainOptions{})
}
