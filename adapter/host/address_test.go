//go:build linux || darwin

package host_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

// longDir makes a session directory whose socket has too long a path.
func longDir(t *testing.T) string {
	t.Helper()
	temp, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	dir := filepath.Join(temp, strings.Repeat("long", 40), "s1")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestSocketPathTooLong(t *testing.T) {
	dir := longDir(t)
	agent := newFake()
	stop := serve(t, dir, only(agent))
	record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	text, err := os.ReadFile(filepath.Join(dir, "host.addr"))
	if err != nil {
		t.Fatal(err)
	}
	for path, mode := range map[string]os.FileMode{string(text): 0o600, filepath.Dir(string(text)): 0o700} {
		if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: got %v, %v, want mode %o", path, info, err, mode)
		}
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Dir(string(text))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want the place of the socket removed", err)
	}
	insert(t, dir, prompt("m2"), adapter.Refused)
	serve(t, dir, only(newFake()))
	record(t, dir)
	insert(t, dir, prompt("m2"), adapter.Taken)
}

// A program that ends at once is not started over and over for one prompt.
func TestAgentThatEndsAtOnce(t *testing.T) {
	dir, dead := newDir(t), newFake()
	dead.die(errors.New("exit status 9"))
	serve(t, dir, only(dead))
	record(t, dir)
	err := insert(t, dir, prompt("m1"), adapter.Refused)
	if !errors.Is(err, adapter.ErrGone) || !strings.Contains(err.Error(), "exit status 9") {
		t.Errorf("got %v, want ErrGone and how it ended", err)
	}
}

// A place for the socket that others could reach is not used, by neither side.
func TestPlantedAddress(t *testing.T) {
	dir := longDir(t)
	stop := serve(t, dir, only(newFake()))
	text, err := os.ReadFile(filepath.Join(dir, "host.addr"))
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Dir(string(text))
	if err := os.Chmod(place, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := host.NewClient(dir).Insert(t.Context(), prompt("m1")); !errors.Is(err, host.ErrPeer) || adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("Insert: got %v, want ErrPeer", err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func() error{
		"open to others": func() error { return errors.Join(os.Mkdir(place, 0o700), os.Chmod(place, 0o777)) },
		"a symlink":      func() error { return os.Symlink(t.TempDir(), place) },
		"a file":         func() error { return os.WriteFile(place, nil, 0o700) },
	} {
		if err := errors.Join(os.RemoveAll(place), plant()); err != nil {
			t.Fatal(err)
		}
		if _, err := host.Open(host.Options{Session: session(dir), Start: only(newFake())}); !errors.Is(err, host.ErrPeer) {
			t.Errorf("%s: got %v, want ErrPeer", name, err)
		}
	}
	for _, address := range []string{"relative/host.sock", "", "/" + strings.Repeat("x", 200), "\x00"} {
		if err := os.WriteFile(filepath.Join(dir, "host.addr"), []byte(address), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := host.NewClient(dir).Insert(t.Context(), prompt("m1")); adapter.AnswerOf(err) != adapter.Refused {
			t.Errorf("%q: got %v, want it refused", address, err)
		}
	}
}

func TestOpenFails(t *testing.T) {
	start := only(newFake())
	for name, o := range map[string]host.Options{
		"no directory": {Start: start},
		"no Start":     {Session: session(t.TempDir())},
	} {
		if _, err := host.Open(o); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
	if _, err := host.Open(host.Options{Session: session(filepath.Join(t.TempDir(), "never")), Start: start}); !errors.Is(err, host.ErrClosed) {
		t.Errorf("no session: got %v, want ErrClosed", err)
	}
	dir := newDir(t)
	serve(t, dir, start)
	for range 3 {
		if _, err := host.Open(host.Options{Session: session(dir), Start: start}); !errors.Is(err, host.ErrRunning) {
			t.Errorf("second broker: got %v, want ErrRunning", err)
		}
	}
	if s, err := host.NewClient(dir).Probe(t.Context()); s != adapter.Blocked || err == nil {
		t.Errorf("Probe without a recorder: got %s, %v, want blocked and why", s, err)
	}
	record(t, dir) // the socket of the first was not touched
	insert(t, dir, prompt("m1"), adapter.Taken)
}

// A broker ends with its session.
func TestSessionIsClosed(t *testing.T) {
	dir, agent := newDir(t), newFake()
	b, err := host.Open(host.Options{Session: session(dir), Start: only(agent)})
	if err != nil {
		t.Fatal(err)
	}
	defer host.LookEvery(1e6)()
	served := make(chan error, 1)
	go func() { served <- b.Serve(context.Background()) }()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := receive(t, "end", served); !errors.Is(err, host.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
	<-agent.done
}

func TestKind(t *testing.T) {
	registry := adapter.Registry{host.KindOf("acp", "an agent behind a host")}
	dir := newDir(t)
	o, err := registry.Open("acp", session(dir), nil)
	if err != nil || o.Policy != adapter.Hold || !o.Adapter.Headless() {
		t.Errorf("got %+v, %v, want hold and headless", o, err)
	}
	if s, err := o.Probe(t.Context()); s != adapter.Gone || !errors.Is(err, host.ErrNoHost) {
		t.Errorf("Probe: got %s, %v, want gone", s, err)
	}
	if _, err := registry.Open("acp", adapter.Session{ID: "s1"}, nil); adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("no directory: got %v, want a refusal", err)
	}
	var setting *adapter.SettingError
	if _, err := registry.Open("acp", session(dir), map[string]string{"x": "y"}); !errors.As(err, &setting) {
		t.Errorf("unknown setting: got %v, want a SettingError", err)
	}
}

// A thousand prompts leave no goroutine and no descriptor behind.
func TestNothingLeaks(t *testing.T) {
	dir, agent := newDir(t), newFake()
	serve(t, dir, only(agent))
	record(t, dir)
	insert(t, dir, prompt("m0"), adapter.Taken)
	idle(t, dir)
	before := resources(t)
	c := hosttest.Patient{Client: host.NewClient(dir)}
	for n := range 1000 {
		if err := c.Insert(t.Context(), prompt(fmt.Sprint("m", n+1))); err != nil {
			t.Fatal(err)
		}
		if n%100 == 0 {
			if p, err := c.Lookup(t.Context(), fmt.Sprint("m", n)); p != adapter.Present {
				t.Fatalf("Lookup: got %s, %v, want present", p, err)
			}
		}
	}
	idle(t, dir)
	after := before
	eventually(t, "as many goroutines and descriptors as before", func() bool {
		after = resources(t)
		return after[0] <= before[0] && after[1] <= before[1]
	})
	if got := len(agent.received()); got != 1001 {
		t.Errorf("got %d prompts, want 1001", got)
	}
}
