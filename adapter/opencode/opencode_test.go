package opencode_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/opencode"
)

func TestKind(t *testing.T) {
	registry := adapter.Registry{opencode.Kind}
	for _, tt := range []struct{ setting, value, want string }{ // want "" means refused
		{"url", "http://127.0.0.1:4097/", "http://127.0.0.1:4097"},
		{"url", "https://example.com", "https://example.com"},
		{"url", "127.0.0.1:4097", ""},
		{"url", "http://me:secret@127.0.0.1", ""},
		{"url", "http://127.0.0.1/path", ""},
		{"url", "ftp://127.0.0.1", ""},
		{"session", "ses_1Ab", "ses_1Ab"},
		{"session", "ses_../x", ""},
		{"session", "msg_1", ""},
		{"model", "openrouter/a/b", "openrouter/a/b"},
		{"model", "b", ""},
		{"model", "/b", ""},
		{"while-busy", "join", "join"},
		{"while-busy", "queue", ""},
		{"timeout", "5s", "5s"},
		{"timeout", "0s", ""},
		{"timeout", "soon", ""},
		{"directory", "/a/../b", "/b"},
	} {
		got, err := registry.Settle("opencode", map[string]string{tt.setting: tt.value})
		if (err == nil) != (tt.want != "") || got[tt.setting] != tt.want {
			t.Errorf("%s=%s: got %q, %v, want %q", tt.setting, tt.value, got[tt.setting], err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %q, which tells the password", tt.setting, err)
		}
	}
	o, err := registry.Open("opencode", adapter.Session{ID: "s1", Dir: t.TempDir()}, nil)
	if err != nil || !o.Adapter.Headless() || o.Policy != adapter.Redeliver || o.Close() != nil {
		t.Errorf("got %+v, %v, want a headless one that redelivers", o, err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		dir     string
		options opencode.Options
	}{
		{"", opencode.Options{}},
		{"d", opencode.Options{URL: ":"}},
		{"d", opencode.Options{Session: "x/y"}},
		{"d", opencode.Options{Model: "x"}},
	} {
		if _, err := opencode.New(adapter.Session{Dir: tt.dir}, tt.options); err == nil || !strings.HasPrefix(err.Error(), "opencode: ") {
			t.Errorf("%q, %+v: got %v, want an error of opencode", tt.dir, tt.options, err)
		}
	}
}

// TestCorruptSessionFile makes everything wait for a person, as a new session of opencode
// would forget what the old one has.
func TestCorruptSessionFile(t *testing.T) {
	s := startServer(t)
	for _, bad := range []string{"", "ses_1", "ses_1\nses_2\n", "\x00\n", "../x\n"} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "opencode"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "opencode", "session"), []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		a := open(t, dir, opencode.Options{URL: s.http.URL})
		checkAnswer(t, bad, a.Insert(t.Context(), prompt("m1", "x")), adapter.Refused, nil, "corrupt: remove it")
		if p, err := a.Lookup(t.Context(), "m1"); p != adapter.CannotTell || err == nil {
			t.Errorf("%q: Lookup: got %s, %v, want cannot tell", bad, p, err)
		}
		if state, err := a.Probe(t.Context()); state != adapter.Blocked || err == nil {
			t.Errorf("%q: Probe: got %s, %v, want blocked", bad, state, err)
		}
	}
}

// TestClosedSessionDirectory finds the directory gone, and does not make it again.
func TestClosedSessionDirectory(t *testing.T) {
	s := startServer(t)
	dir := filepath.Join(t.TempDir(), "gone")
	a := open(t, dir, opencode.Options{URL: s.http.URL})
	checkAnswer(t, "insert", a.Insert(t.Context(), prompt("m1", "x")), adapter.Refused, nil, "gone")
	if _, err := os.Stat(dir); err == nil || s.posts != 0 {
		t.Errorf("got the directory made and %d messages, want neither", s.posts)
	}
}

func TestProbe(t *testing.T) {
	busy := map[string]string{"type": "busy"}
	for _, tt := range []struct {
		name   string
		server func(s *server)
		join   bool
		want   adapter.State
	}{
		{"idle", func(*server) {}, false, adapter.Idle},
		{"busy", func(s *server) { s.busy = busy }, false, adapter.Busy},
		{"permission", func(s *server) { s.busy, s.asking = busy, "permission" }, false, adapter.Blocked},
		{"permission, may join", func(s *server) { s.busy, s.asking = busy, "permission" }, true, adapter.Busy},
		{"password", func(s *server) { s.status = 403 }, false, adapter.Blocked},
		{"fault", func(s *server) { s.status = 500 }, false, adapter.Unknown},
		{"another server", func(s *server) { s.status = 404 }, false, adapter.Gone},
	} {
		s, dir := startServer(t), t.TempDir()
		if err := open(t, dir, opencode.Options{URL: s.http.URL}).Insert(t.Context(), prompt("m1", "x")); err != nil {
			t.Fatal(err)
		}
		s.change(tt.server)
		got, err := open(t, dir, opencode.Options{URL: s.http.URL, Join: tt.join}).Probe(t.Context())
		if got != tt.want || (err == nil) != (got == adapter.Idle || got == adapter.Busy) {
			t.Errorf("%s: got %s, %v, want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestInterrupt(t *testing.T) {
	s, dir := startServer(t), t.TempDir()
	a := open(t, dir, opencode.Options{URL: s.http.URL})
	if err := a.Interrupt(t.Context()); err != nil {
		t.Errorf("without a session: got %v, want nothing done", err)
	}
	if err := a.Insert(t.Context(), prompt("m1", "x")); err != nil {
		t.Fatal(err)
	}
	s.change(func(s *server) { s.busy = map[string]string{"type": "busy"} })
	if err := a.Interrupt(t.Context()); err != nil || s.busy != nil {
		t.Errorf("got %v, busy %v, want it stopped", err, s.busy)
	}
	s.change(func(s *server) { s.status = 401 })
	if err := a.Interrupt(t.Context()); !errors.Is(err, adapter.ErrBlocked) {
		t.Errorf("got %v, want what stands in the way", err)
	}
}
