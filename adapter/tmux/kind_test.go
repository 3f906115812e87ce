package tmux_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/tmux"
)

func TestSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ setting, value string }{
		{"target", ""}, {"target", "main:0.1"}, {"target", "%"}, {"target", "%1 "}, {"target", "%1;kill-server"}, {"target", "-t"}, {"target", "5"}, {"target", "%1\n"},
		{"bind", "%1"}, {"bind", "1:2:%2:3"}, // the identity of another pane
		{"submit", "kill-server"}, {"submit", "Enter ; kill-server"}, {"submit", "-l"}, {"submit", "hello"},
		{"interrupt", "Escape Escape"},
		{"settle", "299ms"}, {"settle", "soon"}, {"wait", "-1s"}, {"transcript-wait", "0s"},
		{"confirm", "maybe"}, {"confirm", "transcript:"}, {"confirm", "transcript:/a/["},
		{"command", "deny"}, {"long", "cut"}, {"while-busy", "queue"}, {"brackets", "perhaps"},
		{"profile", "emacs"}, {"composer", "("}, {"placeholder", "("}, {"dialog", "["}, {"busy", "*"},
		{"pane", "%1"}, {"socket", "a\nb"},
	} {
		settings := map[string]string{"target": "%1"}
		settings[tt.setting] = tt.value
		_, err := adapter.Registry{tmux.Kind}.Open("tmux", adapter.Session{}, settings)
		if !errors.Is(err, adapter.ErrRefused) {
			t.Errorf("%s=%q: got %v, want it refused", tt.setting, tt.value, err)
		}
	}
}

func TestSettingsInCanonicalForm(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ setting, value, want string }{
		{"socket", "name", "name"},
		{"socket", "./socket", filepath.Join(here, "socket")},
		{"confirm", "transcript:~/.claude/projects/*/*.jsonl", "transcript:/home/me/.claude/projects/*/*.jsonl"},
		{"confirm", "transcript:log", "transcript:" + filepath.Join(here, "log")},
		{"confirm", "hook", "hook"},
		{"submit", "M-Enter", "M-Enter"},
		{"settle", "1s", "1s"},
		{"bind", "1:2:%1:3", "1:2:%1:3"},
	} {
		settings := map[string]string{"target": "%1", tt.setting: tt.value}
		settled, err := adapter.Registry{tmux.Kind}.Settle("tmux", settings)
		if err != nil || settled[tt.setting] != tt.want {
			t.Errorf("%s=%q: got %q, %v, want %q", tt.setting, tt.value, settled[tt.setting], err, tt.want)
		}
		if _, err := (adapter.Registry{tmux.Kind}).Open("tmux", adapter.Session{}, settled); err != nil {
			t.Errorf("%s=%q: %v", tt.setting, tt.want, err)
		}
	}
}

func TestAPaneHoldsWhatItDoesNotConfirm(t *testing.T) {
	t.Parallel()
	o, err := adapter.Registry{tmux.Kind}.Open("tmux", adapter.Session{}, map[string]string{"target": "%1"})
	if err != nil {
		t.Fatal(err)
	}
	if o.Policy != adapter.Hold || o.Adapter.Headless() {
		t.Errorf("got policy %v, headless %v, want hold and a terminal", o.Policy, o.Adapter.Headless())
	}
}

// The setting names the profiles that there are.
func TestProfilesAreNamed(t *testing.T) {
	if there, named := tmux.Profiles(); named != there {
		t.Errorf("the setting profile names %s, want %s", named, there)
	}
}
