package adaptertest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
)

// prompt returns the nth prompt of a case.
func prompt(n int, text string) adapter.Prompt {
	return adapter.Prompt{MID: fmt.Sprintf("kit-%04d", n), Session: "kit", Text: text}
}

// insert hands p over and checks what every Insert must keep: it returns, it
// marks its error, the error has words, and it leaves the prompt alone.
func (k *kit) insert(ctx context.Context, t *testing.T, p adapter.Prompt) (adapter.Answer, error) {
	t.Helper()
	before := maps.Clone(p.Attributes)
	done := make(chan error, 1)
	go func() { done <- k.guarded(ctx, p) }()
	select {
	case err := <-done:
		if !maps.Equal(before, p.Attributes) {
			t.Errorf("Insert(%s): got attributes changed to %v, want %v", p.MID, p.Attributes, before)
		}
		checkMarked(t, p.MID, err)
		return adapter.AnswerOf(err), err
	case <-time.After(k.Patience):
		t.Errorf("Insert(%s): got no return within %s, want one", p.MID, k.Patience)
		return adapter.Unconfirmed, nil
	}
}

// guarded turns a panic into the error that it counts as, without its mark, so
// that the check reports it.
func (k *kit) guarded(ctx context.Context, p adapter.Prompt) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return k.Adapter.Insert(ctx, p)
}

func checkMarked(t *testing.T, mid string, err error) {
	t.Helper()
	if err == nil {
		return
	}
	refused, unconfirmed := errors.Is(err, adapter.ErrRefused), errors.Is(err, adapter.ErrUnconfirmed)
	if refused == unconfirmed {
		t.Errorf("Insert(%s): got error %q that is refused: %v, unconfirmed: %v, want exactly one", mid, err, refused, unconfirmed)
	}
	if err.Error() == "" {
		t.Errorf("Insert(%s): got an error without words, want what stood in the way", mid)
	}
}

// take hands p over and fails the case unless it is taken.
func (k *kit) take(t *testing.T, p adapter.Prompt) {
	t.Helper()
	if answer, err := k.insert(t.Context(), t, p); answer != adapter.Taken {
		t.Fatalf("Insert(%s, %d bytes): got %s, %v, want it taken", p.MID, len(p.Text), answer, err)
	}
}

// takeSoon hands p over again and again until it is taken, as a sweeper would
// after a refusal.
func (k *kit) takeSoon(t *testing.T, p adapter.Prompt) {
	t.Helper()
	var last error
	k.eventually(t, func() bool {
		answer, err := k.insert(t.Context(), t, p)
		if answer == adapter.Unconfirmed {
			t.Fatalf("Insert(%s): got unconfirmed, %v, want taken or refused", p.MID, err)
		}
		last = err
		return answer == adapter.Taken
	}, func() string { return fmt.Sprintf("Insert(%s): got %v to the end, want it taken", p.MID, last) })
}

// received waits until the program has at least n prompts and returns all.
func (k *kit) received(t *testing.T, n int) []adapter.Prompt {
	t.Helper()
	var got []adapter.Prompt
	k.eventually(t, func() bool {
		var err error
		if got, err = k.Received(); err != nil {
			t.Fatalf("harness: Received: %v", err)
		}
		return len(got) >= n
	}, func() string { return fmt.Sprintf("program: got %d prompts, want %d", len(got), n) })
	return got
}

// got checks that the program received exactly these prompts, in this order.
func (k *kit) got(t *testing.T, want ...adapter.Prompt) {
	t.Helper()
	got := k.received(t, len(want))
	for i := range min(len(got), len(want)) {
		if e := k.Expect(want[i]); !same(got[i], e) {
			t.Errorf("program: prompt %d: got %s, want %s%s", i, show(got[i]), show(e), diff(got[i].Text, e.Text))
		}
	}
	if len(got) != len(want) {
		t.Errorf("program: got %d prompts, want %d", len(got), len(want))
	}
}

func same(a, b adapter.Prompt) bool {
	return a.MID == b.MID && a.Session == b.Session && a.From == b.From && a.Text == b.Text &&
		maps.Equal(a.Attributes, b.Attributes)
}

func show(p adapter.Prompt) string {
	return fmt.Sprintf("{mid %q session %q from %q attributes %q text %.60q of %d bytes}",
		p.MID, p.Session, p.From, p.Attributes, p.Text, len(p.Text))
}

// diff names the first byte at which two texts differ.
func diff(got, want string) string {
	if got == want {
		return ""
	}
	n := min(len(got), len(want))
	for i := range n {
		if got[i] != want[i] {
			n = i
			break
		}
	}
	return fmt.Sprintf(", texts differ at byte %d: %.30q, want %.30q", n, got[n:], want[n:])
}

// eventually polls until ok is true, and fails the case with the message when
// the patience runs out.
func (k *kit) eventually(t *testing.T, ok func() bool, message func() string) {
	t.Helper()
	end := time.NewTimer(k.Patience)
	defer end.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end.C:
			t.Fatal(message())
		}
	}
}
