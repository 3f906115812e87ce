package top_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
	"github.com/docket-go/docket/cmd/docket/internal/top"
)

// A terminal that keeps what is drawn.
type paper struct {
	keys    chan screen.Key
	resized chan struct{}

	mu     sync.Mutex
	frame  string
	closed int
	broken error
}

func newPaper() *paper { return &paper{keys: make(chan screen.Key), resized: make(chan struct{})} }

func (p *paper) Size() (int, int)         { return 80, 24 }
func (p *paper) Keys() <-chan screen.Key  { return p.keys }
func (p *paper) Resized() <-chan struct{} { return p.resized }

func (p *paper) Draw(f screen.Frame) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frame = text(f)
	return p.broken
}

func (p *paper) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed++
	return nil
}

func (p *paper) shows(t *testing.T, want string) {
	t.Helper()
	until(t, want, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return strings.Contains(p.frame, want)
	})
}

func (p *paper) isClosed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed > 0
}

// until waits for what has to happen soon.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); !ok(); {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it never came to this: %s", what)
		}
	}
}

func (p *paper) press(names ...string) {
	for _, name := range names {
		p.keys <- screen.Key{Name: name, Text: name}
	}
}

// A source that says what its test wants.
type source struct {
	batches  chan top.Batch
	pages    chan top.Page
	debts    func(id string) top.Debts
	retry    func() (string, error)
	followed error
}

func newSource() *source {
	return &source{
		batches: make(chan top.Batch), pages: make(chan top.Page), debts: debts,
		retry: func() (string, error) { return "1 delivered, 0 owed", nil },
	}
}

func (s *source) Follow(ctx context.Context, visible func() []string, send func(top.Batch)) error {
	for {
		select {
		case b, more := <-s.batches:
			if !more {
				return s.followed
			}
			send(b)
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *source) Debts(_ context.Context, id string) top.Debts { return s.debts(id) }

func (s *source) Converse(ctx context.Context, id string, send func(top.Page)) error {
	for {
		select {
		case p := <-s.pages:
			send(p)
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *source) Before(context.Context, string, uint64) (top.Page, error) { return top.Page{}, nil }
func (s *source) Retry(string) (string, error)                             { return s.retry() }
func (s *source) Revoke(_, mid string) (string, error)                     { return mid + " is revoked", nil }

func (s *source) Confirm(_, mid string, absent bool) (string, error) {
	return "", errors.New(mid + " cannot be confirmed: try again")
}

// start runs the view and returns what waits for its end.
func start(t *testing.T, ctx context.Context, p *paper, s *source, o top.Options) (wait func() error) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- top.Run(ctx, p, s, o) }()
	return func() error {
		t.Helper()
		select {
		case err := <-ended:
			if !p.isClosed() {
				t.Error("the terminal was not given back")
			}
			return err
		case <-time.After(time.Minute):
			t.Fatal("it does not end")
			return nil
		}
	}
}

func TestRun(t *testing.T) {
	p, s := newPaper(), newSource()
	wait := start(t, t.Context(), p, s, top.Options{Store: "/store"})
	s.batches <- top.Batch{Rows: []top.Row{{ID: "worker-3", Owed: 2, Unconfirmed: true}}}
	p.shows(t, "worker-3")
	p.press("r")
	p.shows(t, "worker-3: 1 delivered, 0 owed")
	p.press("x")
	p.shows(t, "take it back?")
	p.press("y")
	p.shows(t, "worker-3: m1 is revoked")
	p.press("c")
	p.shows(t, "has the agent got it?")
	p.press("y")
	p.shows(t, "m1 cannot be confirmed: try again")
	p.press("enter")
	s.pages <- page(true, 0, 3)
	p.shows(t, "event number 2")
	p.press("q", "q", "q")
	if err := wait(); err != nil {
		t.Error(err)
	}
}

func TestRunEnds(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		name string
		do   func(p *paper, s *source, stop func())
		want error
	}{
		{"with a key", func(p *paper, _ *source, _ func()) { p.press("ctrl+c") }, nil},
		{"with the context", func(_ *paper, _ *source, stop func()) { stop() }, nil},
		{"with the terminal", func(p *paper, _ *source, _ func()) { close(p.keys) }, nil},
		{"with the source", func(_ *paper, s *source, _ func()) {
			s.followed = broken
			close(s.batches)
		}, broken},
		{"when it cannot draw", func(p *paper, _ *source, _ func()) {
			p.mu.Lock()
			p.broken = broken
			p.mu.Unlock()
			p.resized <- struct{}{}
		}, broken},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			p, s := newPaper(), newSource()
			wait := start(t, ctx, p, s, top.Options{})
			p.shows(t, "docket top")
			tt.do(p, s, stop)
			if err := wait(); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// What was begun is waited for once the terminal is given back, and told.
func TestRunWaitsForWhatWasBegun(t *testing.T) {
	p, s := newPaper(), newSource()
	begun, goOn := make(chan struct{}), make(chan struct{})
	s.retry = func() (string, error) {
		close(begun)
		<-goOn
		return "", errors.New("still owed")
	}
	late := ""
	wait := start(t, t.Context(), p, s, top.Options{
		Left: func() {
			if !p.isClosed() {
				t.Error("the terminal is not given back yet")
			}
			close(goOn)
		},
		Late: func(id, text string, bad bool) {
			if bad {
				late = id + ": " + text
			}
		},
	})
	s.batches <- top.Batch{Rows: []top.Row{{ID: "worker-3", Owed: 2}}}
	p.shows(t, "worker-3")
	p.press("r")
	<-begun
	p.press("q")
	if err := wait(); err != nil {
		t.Error(err)
	}
	if late != "worker-3: still owed" {
		t.Errorf("got %q", late)
	}
}

// A panic of whatever goroutine comes out of Run, behind a terminal that is as before.
func TestRunPanics(t *testing.T) {
	p, s := newPaper(), newSource()
	s.retry = func() (string, error) { panic("a bug") }
	got := make(chan any, 1)
	go func() {
		defer func() { got <- recover() }()
		_ = top.Run(t.Context(), p, s, top.Options{})
	}()
	s.batches <- top.Batch{Rows: []top.Row{{ID: "worker-3", Owed: 2}}}
	p.shows(t, "worker-3")
	p.press("r")
	if text, _ := (<-got).(string); !strings.Contains(text, "a bug") || !strings.Contains(text, "run_test.go") {
		t.Errorf("got %q", text)
	}
	if !p.isClosed() {
		t.Error("the terminal was not given back")
	}
}
