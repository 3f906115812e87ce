package acp_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

// A memory is a store that can fail.
type memory struct {
	mu       sync.Mutex
	id       string
	err      error
	saves    int
	savedFor string
}

func (m *memory) Load(string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.id, m.err
}

func (m *memory) Save(dir, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.id, m.savedFor = id, dir
		m.saves++
	}
	return m.err
}

const canLoad = `{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}`

// replay tells two turns of the past.
func (f *fake) replay() {
	f.update(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"old question"}}`)
	f.chunk("old answer")
	f.update(`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"old","kind":"think"}`)
}

func TestSessionIsLoadedAgain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		replay func(f *fake, answer func())
	}{
		{"past before the answer", func(f *fake, answer func()) { f.replay(); answer() }},
		{"past behind the answer", func(f *fake, answer func()) { answer(); f.replay(); f.replay() }}, // as Gemini does
		{"no past", func(f *fake, answer func()) { answer() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := &memory{id: "s-1"}
			f, peer := newFake(t)
			a := opened(t, f, peer, acp.Options{PieceDelay: -1, Store: store, Dir: "/w"}, nil, func() {
				f.answer(f.Expect("initialize").ID, canLoad)
				load := f.Expect("session/load")
				if string(load.Params) != `{"cwd":"/w","mcpServers":[],"sessionId":"s-1"}` {
					t.Errorf("got %s, want the session", load.Params)
				}
				tt.replay(f, func() { f.answer(load.ID, `{}`) })
			})
			s, _ := submit(context.Background(), a, "go")
			prompt := f.Expect("session/prompt")
			f.chunk("new")
			f.stop(prompt, "end_turn")
			s.End(t)
			hosttest.Equal(t, "emissions", s.All(), []string{"text new"})
			if store.saves > 0 {
				t.Errorf("got %d saves, want none", store.saves)
			}
		})
	}
}

// TestPastIsToldOut has the past come between the requests of docket.
func TestPastIsToldOut(t *testing.T) {
	f, peer := newFake(t)
	pings := make(chan hosttest.Message, 1)
	f.pings = pings
	a := opened(t, f, peer, acp.Options{PieceDelay: -1, Store: &memory{id: "s-1"}}, nil, func() {
		f.answer(f.Expect("initialize").ID, canLoad)
		f.answer(f.Expect("session/load").ID, `null`)
		for range 3 {
			ping := hosttest.Receive(t, "request of proof", pings)
			f.replay()
			f.fail(ping.ID, -32601)
		}
		f.fail(hosttest.Receive(t, "request of proof", pings).ID, -32601) // nothing came meanwhile
	})
	s, _ := submit(context.Background(), a, "go")
	prompt := f.Expect("session/prompt")
	f.stop(prompt, "end_turn")
	s.End(t)
	hosttest.Equal(t, "emissions", s.All(), nil)
}

func TestSessionThatCannotBeLoaded(t *testing.T) {
	for _, tt := range []struct {
		name  string
		greet func(f *fake)
	}{
		{"error", func(f *fake) {
			f.answer(f.Expect("initialize").ID, canLoad)
			f.fail(f.Expect("session/load").ID, -32603)
			f.replay() // whatever it has begun to tell
		}},
		{"not able", func(f *fake) { f.answer(f.Expect("initialize").ID, `{"protocolVersion":1}`) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := &memory{id: "gone"}
			f, peer := newFake(t)
			a := opened(t, f, peer, acp.Options{PieceDelay: -1, Store: store, Dir: "/w"}, nil, func() {
				tt.greet(f)
				f.answer(f.Expect("session/new").ID, `{"sessionId":"s-1"}`)
			})
			if store.id != "gone" {
				t.Errorf("got %q stored before any prompt, want the one of before", store.id)
			}
			for i, want := range []string{"warning context_lost", "text x"} {
				s, _ := submit(context.Background(), a, "go")
				prompt := f.Expect("session/prompt")
				f.chunk("x")
				f.stop(prompt, "end_turn")
				s.End(t)
				if all := s.All(); !strings.HasPrefix(all[0], want) || len(all) != 2-i {
					t.Errorf("turn %d: got %q, want %q first", i, all, want)
				}
			}
			if store.id != "s-1" || store.savedFor != "/w" || store.saves != 1 {
				t.Errorf("got %q for %q after %d saves, want the new one for /w after one", store.id, store.savedFor, store.saves)
			}
		})
	}
}

// TestLostContextIsSaidOnce gives up the first prompt after the loss: the next one says
// it.
func TestLostContextIsSaidOnce(t *testing.T) {
	f, peer := newFake(t)
	a := opened(t, f, peer, acp.Options{PieceDelay: -1, ProofAfter: -1, Store: &memory{id: "gone"}}, nil, func() {
		f.answer(f.Expect("initialize").ID, `{"protocolVersion":1}`)
		f.answer(f.Expect("session/new").ID, `{"sessionId":"s-1"}`)
	})
	ctx, cancel := context.WithCancel(context.Background())
	_, answer := submit(ctx, a, "go")
	prompt := f.Expect("session/prompt")
	cancel()
	if err := hosttest.Receive(t, "answer", answer); adapter.AnswerOf(err) != adapter.Unconfirmed {
		t.Errorf("got %v, want unconfirmed", err)
	}
	f.Expect("session/cancel")
	f.chunk("after all")
	f.stop(prompt, "cancelled")
	s, _ := submitSoon(a, "again")
	f.stop(f.Expect("session/prompt"), "end_turn")
	s.End(t)
	if all := s.All(); len(all) != 1 || !strings.HasPrefix(all[0], "warning context_lost") {
		t.Errorf("got %q, want that the context is lost", all)
	}
}

// A slow store waits inside Save.
type slow struct {
	memory
	inside, leave chan struct{}
}

func (s *slow) Save(dir, id string) error {
	close(s.inside)
	<-s.leave
	return s.memory.Save(dir, id)
}

// TestInterruptBeforeThePromptIsSent has the prompt stopped all the same.
func TestInterruptBeforeThePromptIsSent(t *testing.T) {
	store := &slow{inside: make(chan struct{}), leave: make(chan struct{})}
	f, a := open(t, acp.Options{PieceDelay: -1, Store: store}, nil)
	s, _ := submit(context.Background(), a, "go")
	hosttest.Receive(t, "Save", store.inside)
	if err := a.Interrupt(context.Background()); err != nil {
		t.Error(err)
	}
	f.Expect("session/cancel")
	close(store.leave)
	prompt := f.Expect("session/prompt")
	f.Expect("session/cancel")
	f.stop(prompt, "cancelled")
	if end := s.End(t); end.Outcome != host.Cancelled {
		t.Errorf("got %+v, want cancelled", end)
	}
}

func TestStoreThatFails(t *testing.T) {
	broken := errors.New("no space")
	t.Run("load", func(t *testing.T) {
		f, peer := newFake(t)
		failed := make(chan error, 1)
		go func() {
			_, err := acp.Open(context.Background(), peer, nil, acp.Options{Store: &memory{err: broken}})
			failed <- err
		}()
		f.answer(f.Expect("initialize").ID, canLoad)
		if err := hosttest.Receive(t, "error", failed); !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
	})
	t.Run("save", func(t *testing.T) {
		store := &memory{}
		f, a := open(t, acp.Options{PieceDelay: -1, Store: store}, nil)
		store.mu.Lock()
		store.err = broken
		store.mu.Unlock()
		_, answer := submit(context.Background(), a, "go")
		if err := hosttest.Receive(t, "answer", answer); !errors.Is(err, broken) || adapter.AnswerOf(err) != adapter.Refused {
			t.Errorf("got %v, want refused", err)
		}
		store.mu.Lock()
		store.err = nil
		store.mu.Unlock()
		s, answer := submit(context.Background(), a, "again")
		f.stop(f.Expect("session/prompt"), "end_turn")
		if err := hosttest.Receive(t, "answer", answer); err != nil {
			t.Errorf("afterwards: got %v, want taken", err)
		}
		if end := s.End(t); end.Outcome != host.Success {
			t.Errorf("got %+v, want success", end)
		}
	})
}
