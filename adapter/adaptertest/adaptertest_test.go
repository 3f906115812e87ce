package adaptertest_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
)

// memory is an adapter whose program is a slice. fault names what it does wrong.
type memory struct {
	fault string

	mu      sync.Mutex
	got     []adapter.Prompt
	refuses bool
	hangs   bool
	begun   bool
}

func (m *memory) Headless() bool { return m.fault == "headless changes" && len(m.received()) > 0 }

func (m *memory) received() []adapter.Prompt {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]adapter.Prompt(nil), m.got...)
}

func (m *memory) set(change func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
	return nil
}

func (m *memory) Insert(ctx context.Context, p adapter.Prompt) error {
	if err := ctx.Err(); err != nil && m.fault != "ignores an ended context" {
		if m.fault == "unmarked error" {
			return err
		}
		return adapter.Refuse(err)
	}
	m.mu.Lock()
	hangs := m.hangs
	m.begun = m.begun || hangs
	m.mu.Unlock()
	if hangs {
		<-ctx.Done()
		if m.fault == "refused after it began" {
			return adapter.Refuse(ctx.Err())
		}
		return adapter.Unconfirm(ctx.Err())
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.take(p)
}

func (m *memory) take(p adapter.Prompt) error {
	if m.refuses {
		if m.fault == "delivers what it refuses" {
			m.got = append(m.got, p)
		}
		return adapter.ErrGone
	}
	if len(p.Text) > 200_000 {
		return adapter.Refuse(errors.New("too long"))
	}
	switch m.fault {
	case "trims":
		p.Text = strings.TrimSpace(p.Text)
	case "drops the sender":
		p.From = ""
	case "writes into the attributes":
		for k := range p.Attributes {
			p.Attributes[k] = "changed"
		}
	case "doubles":
		m.got = append(m.got, p)
	case "reorders":
		m.got = append([]adapter.Prompt{p}, m.got...)
		return nil
	case "takes nothing":
		return nil
	case "panics":
		panic("no")
	case "no words":
		return adapter.Refuse(errors.New(""))
	case "refused and unconfirmed":
		return adapter.Unconfirm(adapter.Refuse(errors.New("both")))
	}
	p.Attributes = maps.Clone(p.Attributes)
	m.got = append(m.got, p)
	return nil
}

func (m *memory) Lookup(_ context.Context, mid string) (adapter.Presence, error) {
	for _, p := range m.received() {
		if p.MID == mid || m.fault == "finds a mid in a text" && strings.Contains(p.Text, mid) {
			return adapter.Present, nil
		}
	}
	if m.fault == "never finds" {
		return adapter.CannotTell, nil
	}
	return adapter.Absent, nil
}

func (m *memory) Probe(context.Context) (adapter.State, error) {
	if m.fault == "undefined state" {
		return 17, nil
	}
	return adapter.Idle, nil
}

func harness(fault string) adaptertest.Harness {
	m := &memory{fault: fault}
	return adaptertest.Harness{
		Adapter:  m,
		Received: func() ([]adapter.Prompt, error) { return m.received(), nil },
		MaxBytes: 200_000,
		Refuse:   func() error { return m.set(func() { m.refuses = true }) },
		Restore:  func() error { return m.set(func() { m.refuses = false }) },
		Hang: func() (func() bool, error) {
			begun := func() (b bool) { _ = m.set(func() { b = m.begun }); return b }
			return begun, m.set(func() { m.hangs = true })
		},
	}
}

func TestAGoodAdapterPasses(t *testing.T) {
	adaptertest.Run(t, func(*testing.T) adaptertest.Harness { return harness("") })
}

// faultVariable tells the test binary, run again by itself, which fault to have.
const faultVariable = "ADAPTERTEST_FAULT"

func TestFaultyAdapter(t *testing.T) {
	fault := os.Getenv(faultVariable)
	if fault == "" {
		t.Skip("run by TestEachFaultIsFound")
	}
	adaptertest.Run(t, func(*testing.T) adaptertest.Harness {
		h := harness(fault)
		h.Patience = 2 * time.Second // so that a prompt that never arrives fails soon
		return h
	})
}

// TestEachFaultIsFound runs the kit on broken adapters, in processes of their own
// because it must fail there.
func TestEachFaultIsFound(t *testing.T) {
	for _, tt := range []struct{ fault, failing string }{
		{"trims", "exact_texts_in_order"},
		{"reorders", "exact_texts_in_order"},
		{"doubles", "exact_texts_in_order"},
		{"drops the sender", "sender_and_attributes"},
		{"writes into the attributes", "sender_and_attributes"},
		{"delivers what it refuses", "refusal_leaves_nothing_behind"},
		{"ignores an ended context", ""}, // it takes the prompt and says so: allowed
		{"unmarked error", "context_ended_before"},
		{"refused after it began", "context_ends_inside"},
		{"takes nothing", "exact_texts_in_order"},
		{"panics", "concurrent_use"},
		{"no words", "constant_answers"},
		{"refused and unconfirmed", "constant_answers"},
		{"never finds", "lookup_tells_the_truth"},
		{"finds a mid in a text", "lookup_tells_the_truth"},
		{"undefined state", "probe_gives_a_defined_state"},
		{"headless changes", "constant_answers"},
	} {
		t.Run(tt.fault, func(t *testing.T) {
			t.Parallel()
			child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFaultyAdapter$/^"+tt.failing)
			child.Env = append(os.Environ(), faultVariable+"="+tt.fault)
			out, err := child.CombinedOutput()
			if failed := err != nil; failed != (tt.failing != "") {
				t.Fatalf("got error %v, want one: %v\n%s", err, tt.failing != "", out)
			}
			if tt.failing != "" && !strings.Contains(string(out), "--- FAIL: TestFaultyAdapter/"+tt.failing+" ") {
				t.Errorf("got no failure of %s, want one\n%s", tt.failing, out)
			}
		})
	}
}
