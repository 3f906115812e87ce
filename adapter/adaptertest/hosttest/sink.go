package hosttest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/host"
)

// A Sink keeps what comes of one prompt. Make it with [NewSink]. It is safe for
// concurrent use.
type Sink struct {
	done chan struct{}
	news chan struct{}

	mu      sync.Mutex
	values  []host.Value
	natives []host.Native
	ends    []host.Finished
	late    int
}

// NewSink returns a sink that has got nothing.
func NewSink() *Sink { return &Sink{done: make(chan struct{}), news: make(chan struct{}, 1)} }

// Emit keeps a value.
func (s *Sink) Emit(n host.Native, v host.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ends) > 0 {
		s.late++
	}
	s.values = append(s.values, v)
	s.natives = append(s.natives, n)
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// Finish keeps an end.
func (s *Sink) Finish(_ host.Native, f host.Finished) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ends = append(s.ends, f)
	if len(s.ends) == 1 {
		close(s.done)
	}
}

// Done is closed at the first end.
func (s *Sink) Done() <-chan struct{} { return s.done }

// Values returns what was emitted.
func (s *Sink) Values() []host.Value {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.values)
}

// Natives returns what each value that was emitted came from.
func (s *Sink) Natives() []host.Native {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.natives)
}

// Ends returns the ends, of which there should be one at most.
func (s *Sink) Ends() []host.Finished {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ends)
}

// Late returns how many values came after the first end.
func (s *Sink) Late() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.late
}

// All returns what was emitted in a form that is easily compared.
func (s *Sink) All() (list []string) {
	for _, v := range s.Values() {
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

// Await waits until something holds of what was emitted.
func (s *Sink) Await(t testing.TB, holds func(values []host.Value) bool) {
	t.Helper()
	end := time.NewTimer(Patience)
	defer end.Stop()
	for !holds(s.Values()) {
		select {
		case <-s.news:
		case <-end.C:
			t.Fatalf("got %q, want more", s.All())
		}
	}
}

// Permission waits for the nth permission that was emitted, from 1.
func (s *Sink) Permission(t testing.TB, n int) (p host.Permission) {
	t.Helper()
	s.Await(t, func(values []host.Value) bool {
		seen := 0
		for _, v := range values {
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

// End waits for the end of the turn, which must be one, and the last.
func (s *Sink) End(t testing.TB) host.Finished {
	t.Helper()
	Receive(t, "the end of the turn", s.done)
	ends, late := s.Ends(), s.Late()
	if len(ends) != 1 || late != 0 {
		t.Errorf("got the ends %v and %d emissions after them, want one and none", ends, late)
	}
	return ends[0]
}
