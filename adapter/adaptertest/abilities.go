package adaptertest

import (
	"context"
	"testing"

	"github.com/docket-go/docket/adapter"
)

func lookup(t *testing.T, k *kit) {
	if _, ok := k.Adapter.(adapter.Looker); !ok {
		t.Skip("this adapter cannot look")
	}
	k.absent(t, "kit-unknown")
	if k.NeverTakes {
		return
	}
	first, second := prompt(1, "first\nkit-0003"), prompt(2, "second") // the mid of another in a text is no proof of it
	k.take(t, first)
	k.present(t, first.MID)
	k.absent(t, second.MID)
	k.take(t, second)
	k.present(t, first.MID)
	k.present(t, second.MID)
	for _, mid := range []string{"kit-0003", "kit-000", "kit-00022", "", "*", ".*"} {
		k.absent(t, mid)
	}
	k.got(t, first, second)
}

// look asks once and checks that the answer is a defined one.
func (k *kit) look(t *testing.T, mid string) adapter.Presence {
	t.Helper()
	p, err := k.opened.Lookup(t.Context(), mid)
	if p != adapter.CannotTell && p != adapter.Present && p != adapter.Absent {
		t.Errorf("Lookup(%q): got %d, want one of the three answers", mid, p)
	}
	if err != nil && !k.LookupMayNotTell {
		t.Errorf("Lookup(%q): got %v, want no error", mid, err)
	}
	return p
}

func (k *kit) present(t *testing.T, mid string) {
	t.Helper()
	if p := k.look(t, mid); p == adapter.Absent || p == adapter.CannotTell && !k.LookupMayNotTell {
		t.Errorf("Lookup(%q) of a prompt that was taken: got %s, want present", mid, p)
	}
}

func (k *kit) absent(t *testing.T, mid string) {
	t.Helper()
	if p := k.look(t, mid); p == adapter.Present || p == adapter.CannotTell && !k.LookupMayNotTell {
		t.Errorf("Lookup(%q) of a prompt that was never handed over: got %s, want absent", mid, p)
	}
}

// notPresent checks what must hold of a refused prompt, with or without a look.
func (k *kit) notPresent(t *testing.T, mid string) {
	t.Helper()
	if p, _ := k.opened.Lookup(t.Context(), mid); p == adapter.Present {
		t.Errorf("Lookup(%q) of a prompt that was refused: got present, want absent", mid)
	}
}

func probe(t *testing.T, k *kit) {
	p, ok := k.Adapter.(adapter.Prober)
	if !ok {
		t.Skip("this adapter cannot probe")
	}
	s, err := p.Probe(t.Context())
	if s.String() == "undefined" {
		t.Errorf("Probe: got %d, want one of the five states", s)
	}
	if err != nil && s != adapter.Unknown && s != adapter.Blocked && s != adapter.Gone {
		t.Errorf("Probe: got %s with %v, want an error only with unknown, blocked or gone", s, err)
	}
	if !k.NeverTakes && (s == adapter.Blocked || s == adapter.Gone) {
		t.Errorf("Probe of a harness that takes prompts: got %s, %v, want a state in which Insert decides", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if s, _ := p.Probe(ctx); s.String() == "undefined" {
		t.Errorf("Probe after the end of its context: got %d, want one of the five states", s)
	}
	k.got(t)
}

// constants checks what may not change from call to call.
func constants(t *testing.T, k *kit) {
	headless := k.Adapter.Headless()
	policy := adapter.Use("again", k.Adapter).Policy
	if s := policy.String(); s == "undefined" {
		t.Errorf("Policy: got %d, want hold or redeliver", policy)
	}
	_, _ = k.insert(t.Context(), t, prompt(1, "anything"))
	if got := k.Adapter.Headless(); got != headless {
		t.Errorf("Headless: got %v, then %v, want one answer for ever", headless, got)
	}
	if got := adapter.Use("again", k.Adapter).Policy; got != policy {
		t.Errorf("Policy: got %s, then %s, want one answer for ever", policy, got)
	}
	for _, text := range texts() {
		first := k.opened.Sanitise(text)
		if again := k.opened.Sanitise(text); again != first {
			t.Errorf("Sanitise(%.20q): got %.20q, then %.20q, want one answer for ever", text, first, again)
		}
	}
}
