package codex_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/host"
)

// A sink records what comes of a prompt.
type sink struct {
	mu       sync.Mutex
	values   []host.Value
	natives  []host.Native
	finishes []host.Finished
	late     int // emissions after the first Finish
	finished chan struct{}
	news     chan struct{}
}

func newSink() *sink { return &sink{finished: make(chan struct{}), news: make(chan struct{}, 1000)} }

func (s *sink) Emit(n host.Native, v host.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.finishes) > 0 {
		s.late++
	}
	s.values = append(s.values, v)
	s.natives = append(s.natives, n)
	select {
	case s.news <- struct{}{}:
	default:
	}
}

func (s *sink) Finish(_ host.Native, f host.Finished) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.finishes = append(s.finishes, f)
	if len(s.finishes) == 1 {
		close(s.finished)
	}
}

// all returns the emissions in a form that is easily compared.
func (s *sink) all() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.values {
		switch v := v.(type) {
		case host.Text:
			list = append(list, "text "+v.Text)
		case host.Thought:
			list = append(list, "thought "+v.Text)
		case host.Tool:
			list = append(list, fmt.Sprintf("tool %s %q %s %s", v.ID, v.Title, v.Class, v.Status))
		case host.Permission:
			list = append(list, fmt.Sprintf("permission %q %s %v", v.Title, v.State, v.Options))
		case host.Diagnostic:
			list = append(list, fmt.Sprintf("%s %s %s", v.Severity, v.Code, v.Text))
		default:
			list = append(list, fmt.Sprintf("%T %+v", v, v))
		}
	}
	return list
}

// permission waits for the nth request for permission, from 1.
func (s *sink) permission(t testing.TB, n int) (p host.Permission) {
	t.Helper()
	s.await(t, func() bool {
		seen := 0
		for _, v := range s.values {
			if asked, is := v.(host.Permission); is {
				if seen++; seen == n {
					p = asked
				}
			}
		}
		return seen >= n
	})
	return p
}

// await waits until something holds of what was emitted.
func (s *sink) await(t testing.TB, holds func() bool) {
	t.Helper()
	end := time.After(patience)
	for {
		s.mu.Lock()
		ok := holds()
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-s.news:
		case <-end:
			t.Fatalf("got %q, want more", s.all())
		}
	}
}

// end waits for the end of the turn.
func (s *sink) end(t testing.TB) host.Finished {
	t.Helper()
	receive(t, "the end of the turn", s.finished)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.finishes) != 1 || s.late != 0 {
		t.Errorf("got the ends %v and %d emissions after them, want one and none", s.finishes, s.late)
	}
	return s.finishes[0]
}
