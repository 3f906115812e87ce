package httpread_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/httpread"
	"github.com/docket-go/docket/timeline/session"
)

var now = time.Date(2026, 11, 30, 9, 30, 15, 780e6, time.UTC)

// A fixture is a store, and a server that shows it.
type fixture struct {
	t     testing.TB
	store *session.Store
	url   string
	*books
}

// books stand for queue and dispatch.
type books struct {
	mu    sync.Mutex
	owed  map[string][]httpread.Owed
	ended map[string]httpread.State
	keys  map[string]httpread.Accepted
	sends int
	fail  error // what the functions answer
}

// begin returns a server whose options were changed by the functions.
func begin(t testing.TB, change ...func(*httpread.Options)) *fixture {
	t.Helper()
	store, err := session.OpenStore(t.TempDir(), session.Options{Timeline: timeline.Options{Buffered: true}})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, store: store, books: &books{
		owed: map[string][]httpread.Owed{}, ended: map[string]httpread.State{}, keys: map[string]httpread.Accepted{},
	}}
	o := httpread.Options{Store: store, Send: f.send, Pending: f.pending, States: f.states, Poll: 10 * time.Millisecond}
	for _, c := range change {
		c(&o)
	}
	h, err := httpread.New(o)
	if err != nil {
		t.Fatal(err)
	}
	f.url = serve(t, h)
	return f
}

// serve returns the address of a server of h.
func serve(t testing.TB, h *httpread.Handler) string {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config = h.Server()
	s.Start()
	t.Cleanup(func() {
		h.Close()
		s.Close()
	})
	return s.URL
}

// make makes a session.
func (f *fixture) make(id string) *session.Session {
	f.t.Helper()
	s, err := f.store.Create(f.t.Context(), session.New{ID: id, Title: "Title of " + id, Adapter: "file", Settings: map[string]string{"path": "/secret/place"}})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { s.Release() })
	return s
}

func (f *fixture) declare(s *session.Session, status, proposal, note string) {
	f.t.Helper()
	if _, err := s.Declare(f.t.Context(), session.Declaration{Status: status, Proposal: proposal, Note: note}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) append(s *session.Session, entries ...timeline.Entry) timeline.Written {
	f.t.Helper()
	w, err := s.Timeline().Append(f.t.Context(), entries...)
	if err != nil {
		f.t.Fatal(err)
	}
	return w
}

// numbered appends n messages, m<from> first.
func (f *fixture) numbered(s *session.Session, from, n int) {
	f.t.Helper()
	var entries []timeline.Entry
	for i := from; i < from+n; i++ {
		entries = append(entries, timeline.Sent{Time: now, MID: fmt.Sprint("m", i), Text: fmt.Sprint("text ", i), From: "worker-2"})
	}
	f.append(s, entries...)
}

func (f *fixture) send(ctx context.Context, m httpread.Message) (httpread.Accepted, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return httpread.Accepted{}, f.fail
	}
	key := m.Session + " " + m.Operation + " " + m.Key
	if a, ok := f.keys[key]; ok && m.Key != "" {
		a.Replayed = true
		return a, nil
	}
	s, err := f.store.Open(m.Session)
	if err != nil {
		return httpread.Accepted{}, err
	}
	defer s.Release()
	f.sends++
	mid := fmt.Sprint("h", f.sends)
	receipt := &timeline.Receipt{Operation: "op-secret", RequestDigest: "digest-secret", PayloadHash: "hash-secret", Delivery: timeline.Delivery{Text: "delivered-secret"}}
	w, err := s.Timeline().Append(ctx, timeline.Sent{MID: mid, Text: m.Text, ReplyVia: m.ReplyVia, Receipt: receipt, Attributes: map[string]string{"a": "attribute-secret"}})
	if err != nil {
		return httpread.Accepted{}, err
	}
	a := httpread.Accepted{MID: mid, Cursor: w.Next}
	if m.Key != "" {
		f.keys[key] = a
	}
	f.owed[m.Session] = append(f.owed[m.Session], httpread.Owed{MID: mid, Text: m.Text, State: "owed", EnqueuedAt: now})
	return a, nil
}

func (f *fixture) pending(_ context.Context, id string) ([]httpread.Owed, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]httpread.Owed(nil), f.owed[id]...), f.fail
}

func (f *fixture) states(_ context.Context, id string, mids []string) (map[string]httpread.State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := map[string]httpread.State{}
	for _, mid := range mids {
		if s, ok := f.ended[mid]; ok {
			found[mid] = s
		}
		for _, e := range f.owed[id] {
			if e.MID == mid {
				found[mid] = httpread.State{State: e.State, Attempts: e.Attempts, LastError: e.LastError, Handing: e.Handing}
			}
		}
	}
	return found, f.fail
}

// deliver ends what a session is owed.
func (f *fixture) deliver(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.owed[id] {
		f.ended[e.MID] = httpread.State{State: "delivered", EndedAt: now}
	}
	f.owed[id] = nil
}

// A reply is an answer, read to its end.
type reply struct {
	*http.Response
	body []byte
}

// ask makes a request; headers are "Name: value", and one that is "Host: x" sets the
// host.
func (f *fixture) ask(method, path, body string, headers ...string) reply {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Add(name, value)
	}
	return f.do(r)
}

func (f *fixture) do(r *http.Request) reply {
	f.t.Helper()
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return reply{resp, b}
}

func (f *fixture) get(path string, headers ...string) reply {
	f.t.Helper()
	return f.ask(http.MethodGet, path, "", headers...)
}

// into decodes a good answer.
func (a reply) into(t testing.TB, v any) {
	t.Helper()
	if a.StatusCode/100 != 2 {
		t.Fatalf("got %s: %s", a.Status, a.body)
	}
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
}

// refused checks that the answer is an error with the status and code, that says
// what to do.
func (a reply) refused(t *testing.T, status int, code string) {
	t.Helper()
	var p struct{ Error, Code string }
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Fatalf("got %s %q, want an error in JSON: %v", a.Status, a.body, err)
	}
	if a.StatusCode != status || p.Code != code || p.Error == "" {
		t.Fatalf("got %s %+v, want %d %s", a.Status, p, status, code)
	}
	if got := a.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("got content type %q of an error", got)
	}
}

// events of a timeline, as far as tests look.
type page struct {
	Session string
	Events  []struct {
		Kind, MID, Text, From, Note, Status, Display string
	}
	First, Next   string
	More, Earlier bool
	Unreadable    int
}

func (p page) mids() string {
	var mids []string
	for _, e := range p.Events {
		mids = append(mids, e.MID)
	}
	return strings.Join(mids, " ")
}

func (f *fixture) page(path string) (p page) {
	f.t.Helper()
	f.get(path).into(f.t, &p)
	return p
}

var errDisk = errors.New("disk /secret/place is on fire")
