package adapter_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
)

// fake is an adapter with every ability, which answers what it is told to.
type fake struct {
	settings map[string]string
	presence adapter.Presence
	state    adapter.State
	err      error
	closed   bool
}

func (*fake) Headless() bool                               { return true }
func (*fake) Insert(context.Context, adapter.Prompt) error { return nil }
func (*fake) Policy() adapter.Policy                       { return adapter.Redeliver }
func (*fake) Interrupt(context.Context) error              { return nil }
func (*fake) Sanitise(text string) string                  { return strings.TrimSpace(text) }
func (f *fake) Close() error                               { f.closed = true; return f.err }
func (f *fake) Probe(context.Context) (adapter.State, error) {
	return f.state, f.err
}
func (f *fake) Lookup(context.Context, string) (adapter.Presence, error) {
	return f.presence, f.err
}

// bare is an adapter without any optional ability.
type bare struct{}

func (bare) Headless() bool                               { return false }
func (bare) Insert(context.Context, adapter.Prompt) error { return nil }

var errOpen = errors.New("cannot open")

func registry() adapter.Registry {
	return adapter.Registry{
		{
			Name: "fake",
			Settings: []adapter.Setting{
				{Name: "target", Required: true, Allowed: "a pane", Canonical: func(v string) (string, error) {
					if v == "bad" {
						return "", errors.New("no such pane")
					}
					return strings.ToUpper(v), nil
				}},
				{Name: "submit", Default: "Enter"},
				{Name: "free", Canonical: func(string) (string, error) { return "", errors.New("never") }},
				{Name: "mode", Allowed: "slow or fast", Canonical: adapter.OneOf("slow", "fast")},
			},
			Open: func(_ adapter.Session, settings map[string]string) (adapter.Adapter, error) {
				return &fake{settings: settings}, nil
			},
		},
		{Name: "bare", Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return bare{}, nil }},
		{Name: "broken", Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return nil, errOpen }},
		{Name: "bare", Open: func(adapter.Session, map[string]string) (adapter.Adapter, error) { return nil, errOpen }}, // hidden
	}
}

func TestOpenGivesCheckedSettings(t *testing.T) {
	for _, tt := range []struct {
		name        string
		given, want map[string]string
	}{
		{"default", map[string]string{"target": "a"}, map[string]string{"target": "A", "submit": "Enter"}},
		{"all", map[string]string{"target": "a", "submit": "C-m", "mode": "slow"}, map[string]string{"target": "A", "submit": "C-m", "mode": "slow"}},
		{"empty is unset", map[string]string{"target": "a", "submit": "", "mode": ""}, map[string]string{"target": "A", "submit": "Enter"}},
		{"policy is not the adapter's", map[string]string{"target": "a", "unconfirmed": "hold"}, map[string]string{"target": "A", "submit": "Enter"}},
	} {
		before := maps.Clone(tt.given)
		o, err := registry().Open("fake", adapter.Session{ID: "s1"}, tt.given)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := o.Adapter.(*fake).settings; !maps.Equal(got, tt.want) || o.Name != "fake" {
			t.Errorf("%s: got %s with %v, want fake with %v", tt.name, o.Name, got, tt.want)
		}
		if !maps.Equal(tt.given, before) {
			t.Errorf("%s: got the caller's settings changed to %v, want %v", tt.name, tt.given, before)
		}
	}
}

func TestOpenRefusesBadSettings(t *testing.T) {
	for _, tt := range []struct {
		name    string
		given   map[string]string
		setting string
		is      error
		says    string
	}{
		{"missing", nil, "target", adapter.ErrMissingSetting, "a pane"},
		{"required but empty", map[string]string{"target": ""}, "target", adapter.ErrMissingSetting, "a pane"},
		{"without a word on what is allowed", map[string]string{"target": "a", "free": "x"}, "free", nil, "setting free: never"},
		{"unknown", map[string]string{"target": "a", "traget": "b"}, "traget", adapter.ErrUnknownSetting, "target, submit, free, mode, unconfirmed"},
		{"bad value", map[string]string{"target": "bad"}, "target", nil, "no such pane"},
		{"none of the values", map[string]string{"target": "a", "mode": "medium"}, "mode", nil, "slow or fast"},
		{"bad policy", map[string]string{"target": "a", "unconfirmed": "retry"}, "unconfirmed", nil, "hold"},
	} {
		for what, try := range map[string]func() error{
			"Open":   func() error { _, err := registry().Open("fake", adapter.Session{}, tt.given); return err },
			"Settle": func() error { _, err := registry().Settle("fake", tt.given); return err },
		} {
			err := try()
			var e *adapter.SettingError
			if !errors.As(err, &e) || e.Adapter != "fake" || e.Setting != tt.setting || (tt.is != nil && !errors.Is(err, tt.is)) {
				t.Errorf("%s, %s: got %v, want a SettingError for %s that is %v", tt.name, what, err, tt.setting, tt.is)
				continue
			}
			if !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "fake") || adapter.AnswerOf(err) != adapter.Refused {
				t.Errorf("%s, %s: got %q, want a refusal that names fake and says %q", tt.name, what, err, tt.says)
			}
		}
	}
}

func TestOpenFails(t *testing.T) {
	_, err := registry().Open("fkae", adapter.Session{}, nil)
	if !errors.Is(err, adapter.ErrUnknownAdapter) || !strings.Contains(err.Error(), "fake, bare, broken") || adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("unknown: got %v, want a refusal that is ErrUnknownAdapter and lists the names", err)
	}
	if _, err := registry().Settle("", nil); !errors.Is(err, adapter.ErrUnknownAdapter) {
		t.Errorf("no name: got %v, want ErrUnknownAdapter", err)
	}
	_, err = registry().Open("broken", adapter.Session{}, nil)
	if !errors.Is(err, errOpen) || adapter.AnswerOf(err) != adapter.Refused || !strings.Contains(err.Error(), "broken") {
		t.Errorf("broken: got %v, want a refusal that names the adapter and is its error", err)
	}
}

func TestSettleKeepsWhatIsSet(t *testing.T) {
	got, err := registry().Settle("fake", map[string]string{"target": "a", "mode": "", "unconfirmed": "hold"})
	want := map[string]string{"target": "A", "unconfirmed": "hold"} // a default may change later
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

func TestPolicy(t *testing.T) {
	for _, tt := range []struct {
		adapter, setting string
		want             adapter.Policy
	}{
		{"bare", "", adapter.Hold},
		{"bare", "hold", adapter.Hold},
		{"bare", "redeliver", adapter.Redeliver},
		{"fake", "", adapter.Redeliver}, // its own preference
		{"fake", "hold", adapter.Hold},
		{"fake", "redeliver", adapter.Redeliver},
	} {
		given := map[string]string{"unconfirmed": tt.setting}
		if tt.adapter == "fake" {
			given["target"] = "a"
		}
		o, err := registry().Open(tt.adapter, adapter.Session{}, given)
		if err != nil || o.Policy != tt.want {
			t.Errorf("%s with %q: got %s, %v, want %s", tt.adapter, tt.setting, o.Policy, err, tt.want)
		}
	}
}

func TestAllSettingsLeavesTheKindAlone(t *testing.T) {
	k := registry()[0]
	k.Settings = k.Settings[:1:3]
	if got := fmt.Sprintf("%d %s", len(k.AllSettings()), k.Settings[:2][1].Name); got != "2 submit" {
		t.Errorf("got %s, want 2 settings and the kind's own untouched", got)
	}
}

func TestOpenedWithoutAbilities(t *testing.T) {
	o := adapter.Use("bare", bare{})
	presence, err1 := o.Lookup(t.Context(), "m1")
	state, err2 := o.Probe(t.Context())
	if err := errors.Join(err1, err2, o.Ready(t.Context()), o.Close()); err != nil {
		t.Errorf("got %v, want no error", err)
	}
	if presence != adapter.CannotTell || state != adapter.Unknown || o.Sanitise(" x ") != " x " {
		t.Errorf("got %s, %s, %q, want cannot tell, unknown, the text itself", presence, state, o.Sanitise(" x "))
	}
}

func TestOpenedWithAbilities(t *testing.T) {
	reason := errors.New("a dialog is open")
	for _, tt := range []struct {
		presence adapter.Presence
		state    adapter.State
		err      error
		found    adapter.Presence
		seen     adapter.State
		ready    error
	}{
		{adapter.Present, adapter.Idle, nil, adapter.Present, adapter.Idle, nil},
		{adapter.Absent, adapter.Busy, nil, adapter.Absent, adapter.Busy, nil}, // Insert decides
		{adapter.CannotTell, adapter.Unknown, nil, adapter.CannotTell, adapter.Unknown, nil},
		{adapter.Present, adapter.Blocked, nil, adapter.Present, adapter.Blocked, adapter.ErrBlocked},
		{adapter.Present, adapter.Gone, nil, adapter.Present, adapter.Gone, adapter.ErrGone},
		{adapter.Present, adapter.Idle, reason, adapter.CannotTell, adapter.Unknown, nil}, // an error proves nothing
		{adapter.Absent, adapter.Blocked, reason, adapter.CannotTell, adapter.Blocked, adapter.ErrBlocked},
		{adapter.Absent, adapter.Gone, reason, adapter.CannotTell, adapter.Gone, adapter.ErrGone},
	} {
		f := &fake{presence: tt.presence, state: tt.state, err: tt.err}
		o := adapter.Use("fake", f)
		found, err1 := o.Lookup(t.Context(), "m1")
		seen, err2 := o.Probe(t.Context())
		ready := o.Ready(t.Context())
		if found != tt.found || seen != tt.seen || !errors.Is(err1, tt.err) || !errors.Is(err2, tt.err) || !errors.Is(ready, tt.ready) {
			t.Errorf("%s, %s, %v: got %s (%v), %s (%v), ready %v, want %s, %s, %v",
				tt.presence, tt.state, tt.err, found, err1, seen, err2, ready, tt.found, tt.seen, tt.ready)
		}
		if tt.ready == nil && ready != nil || tt.ready != nil && tt.err != nil && ready.Error() != reason.Error() {
			t.Errorf("%s, %v: got ready %v, want the reason", tt.state, tt.err, ready)
		}
		if err := o.Close(); !f.closed || !errors.Is(err, tt.err) || o.Sanitise(" x ") != "x" {
			t.Errorf("got closed %v, %v, %q, want it closed and the text sanitised", f.closed, err, o.Sanitise(" x "))
		}
	}
}
