package codex_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
)

// A memory is a store.
type memory struct{ codex.Record }

func (m *memory) Load() (codex.Record, error) { return m.Record, nil }

func (m *memory) Save(r codex.Record) error { m.Record = r; return nil }

// turnOf is a listed turn with messages of these client ids.
func turnOf(status string, clients ...string) string {
	var items []string
	for _, c := range clients {
		items = append(items, fmt.Sprintf(`{"type":"userMessage","clientId":%q}`, c))
	}
	return fmt.Sprintf(`{"id":"u","status":%q,"items":[%s,{"type":"agentMessage","text":"PLANTED"}]}`, status, strings.Join(items, ","))
}

// reopen returns an agent that goes on with the thread t-1.
func reopen(t *testing.T, earlier []string, pages ...string) (*fake, *codex.Agent) {
	t.Helper()
	o := whole
	o.Store = &memory{codex.Record{Thread: "t-1", Earlier: earlier}}
	f, peer := newFake(t)
	a, err := opened(t, f, peer, o, nil, func() {
		f.answer(f.Expect("initialize"), hello)
		f.Expect("initialized")
		f.answer(f.Expect("thread/resume"), madeOne)
		for _, page := range pages {
			f.answer(f.Expect("thread/turns/list"), page)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, a
}

func TestMessagesOfBefore(t *testing.T) {
	f, a := reopen(t, nil,
		`{"data":[`+turnOf("completed", "docket-m3")+`,`+turnOf("interrupted", "docket-m2")+`],"nextCursor":"c"}`,
		`{"data":[`+turnOf("failed", "docket-m1")+`],"nextCursor":null}`)
	for mid, want := range map[string]host.Outcome{"m1": host.Failure, "m2": host.Interrupted, "m3": host.Success} {
		if got, err := a.Lookup(t.Context(), mid); got != adapter.Present || err != nil {
			t.Errorf("%s: got %v, %v, want present", mid, got, err)
		}
		s := hosttest.NewSink()
		if err := a.Submit(t.Context(), adapter.Prompt{MID: mid, Text: "x"}, s); err != nil {
			t.Errorf("%s: got %v, want taken", mid, err)
		}
		if end := s.End(t); end.Code != codex.CodeRepeated || end.Outcome != want {
			t.Errorf("%s: got %+v, want %s, repeated", mid, end, want)
		}
	}
	taken(t, f, a, "m4") // nothing was sent before it
}

// TestLookup lists every message of the thread, and answers absent only of a whole list.
func TestLookup(t *testing.T) {
	for _, tt := range []struct {
		name  string
		pages []string // answers; "!" and a text is an error
		want  adapter.Presence
	}{
		{"first page", []string{`{"data":[` + turnOf("completed", "other", "docket-m1") + `],"nextCursor":"c"}`}, adapter.Present},
		{"last page", []string{`{"data":[],"nextCursor":"c"}`, `{"data":[` + turnOf("x", "docket-m1") + `],"nextCursor":null}`}, adapter.Present},
		{"no page", []string{`{"data":[` + turnOf("completed", "docket-m11", "docket-m", "m1") + `],"nextCursor":null}`}, adapter.Absent},
		{"empty", []string{noTurns}, adapter.Absent},
		{"a page fails", []string{`{"data":[],"nextCursor":"c"}`, "!oops"}, adapter.CannotTell},
		{"no list", []string{`{"turns":[]}`}, adapter.CannotTell},
		{"another form", []string{`{"data":{}}`}, adapter.CannotTell},
		{"no end", []string{`{"data":[],"nextCursor":"c"}`, `{"data":[],"nextCursor":"c"}`}, adapter.CannotTell},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, a := open(t, whole, nil)
			got := make(chan adapter.Presence, 1)
			go func() {
				p, err := a.Lookup(context.Background(), "m1")
				if (err != nil) != (p == adapter.CannotTell) {
					t.Errorf("got %v with %v, want an error with cannot tell alone", p, err)
				}
				got <- p
			}()
			for _, page := range tt.pages {
				m := f.Expect("thread/turns/list")
				if !strings.Contains(string(m.Params), `"itemsView":"full"`) {
					t.Errorf("got %s, want all items", m.Params)
				}
				if text, fails := strings.CutPrefix(page, "!"); fails {
					f.fail(m, -32600, text)
				} else {
					f.answer(m, page)
				}
			}
			if p := hosttest.Receive(t, "the presence", got); p != tt.want {
				t.Errorf("got %v, want %v", p, tt.want)
			}
		})
	}
}

// TestLookupInEarlierThreads never answers absent: their lists may lack something.
func TestLookupInEarlierThreads(t *testing.T) {
	f, a := reopen(t, []string{"t-0"}, noTurns, noTurns)
	ask := func(mid string, play func()) (adapter.Presence, error) {
		type result struct {
			p   adapter.Presence
			err error
		}
		got := make(chan result, 1)
		go func() {
			p, err := a.Lookup(context.Background(), mid)
			got <- result{p, err}
		}()
		f.answer(f.Expect("thread/turns/list"), noTurns)
		play()
		r := hosttest.Receive(t, "the presence", got)
		return r.p, r.err
	}
	if p, err := ask("m1", func() { f.answer(f.Expect("thread/turns/list"), `{"data":[`+turnOf("completed", "docket-m1")+`]}`) }); p != adapter.Present {
		t.Errorf("there: got %v, %v, want present", p, err)
	}
	if p, err := ask("m2", func() { f.answer(f.Expect("thread/turns/list"), noTurns) }); p != adapter.CannotTell || !errors.Is(err, codex.ErrLost) {
		t.Errorf("not there: got %v, %v, want cannot tell and why", p, err)
	}
	if p, err := ask("m3", func() { f.fail(f.Expect("thread/turns/list"), -32600, "no rollout") }); p != adapter.CannotTell || err == nil {
		t.Errorf("lost: got %v, %v, want cannot tell and why", p, err)
	}
}

// TestPagesThatAreTooLong are asked for again in halves.
func TestPagesThatAreTooLong(t *testing.T) {
	o := whole
	o.MaxLineBytes = 8 << 10
	f, a := open(t, o, nil)
	got := make(chan adapter.Presence, 1)
	go func() {
		p, _ := a.Lookup(context.Background(), "m1")
		got <- p
	}()
	huge := `{"data":[{"items":[{"type":"agentMessage","text":"` + strings.Repeat("x", 9<<10) + `"}]}]}`
	for _, limit := range []string{`"limit":16`, `"limit":8`, `"limit":4`, `"limit":2`, `"limit":1`} {
		m := f.Expect("thread/turns/list")
		if !strings.Contains(string(m.Params), limit) {
			t.Errorf("got %s, want %s", m.Params, limit)
		}
		f.answer(m, huge)
	}
	if p := hosttest.Receive(t, "the presence", got); p != adapter.CannotTell {
		t.Errorf("got %v, want cannot tell", p)
	}
}

func TestClientIDs(t *testing.T) {
	seen := map[string]string{}
	for _, mid := range []string{"", "m1", "M1", "*", "a b", "\x00", strings.Repeat("x", 128), strings.Repeat("x", 129), "docket-m1", "é"} {
		id := codex.ClientID(mid)
		if other, twice := seen[id]; twice || len(id) > 140 {
			t.Errorf("%q: got %q, which is that of %q or too long", mid, id, other)
		}
		seen[id] = mid
	}
}
