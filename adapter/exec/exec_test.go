package exec_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/exec"
)

func TestSettings(t *testing.T) {
	registry := adapter.Registry{exec.Kind}
	dir := t.TempDir()
	t.Chdir(dir)
	settled, err := registry.Settle("exec", map[string]string{"cmd": "cat", "dir": "."})
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := filepath.EvalSymlinks(settled["dir"]); err != nil || got != real || settled["cmd"] != "cat" || len(settled) != 2 {
		t.Errorf("Settle: got %v, %v, want cmd as it is and dir as %s", settled, err, real)
	}
	o, err := registry.Open("exec", adapter.Session{}, settled)
	if err != nil || o.Policy != adapter.Hold || !o.Adapter.Headless() {
		t.Errorf("got %+v, %v, want hold and headless", o, err)
	}
	o, err = registry.Open("exec", adapter.Session{}, map[string]string{"cmd": "cat", "unconfirmed": "redeliver", "headless": "false"})
	if err != nil || o.Policy != adapter.Redeliver || o.Adapter.Headless() {
		t.Errorf("got %+v, %v, want redeliver and not headless", o, err)
	}
	for _, bad := range []map[string]string{
		nil, {"cmd": ""}, {"command": "cat"}, {"cmd": "cat", "timeout": "soon"}, {"cmd": "cat", "timeout": "0s"},
		{"cmd": "cat", "timeout": "-1s"}, {"cmd": "cat", "timeout": "10"}, {"cmd": "cat", "headless": "1"},
	} {
		var setting *adapter.SettingError
		if _, err := registry.Open("exec", adapter.Session{}, bad); !errors.As(err, &setting) || adapter.AnswerOf(err) != adapter.Refused {
			t.Errorf("%v: got %v, want a SettingError that is a refusal", bad, err)
		}
	}
	if _, err := exec.New(exec.Options{}); err == nil {
		t.Error("New without a command: got no error, want one")
	}
}

func TestNotStarted(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	a, err := exec.New(exec.Options{Command: "exit 0", Dir: missing})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Insert(t.Context(), adapter.Prompt{MID: "m1"}); adapter.AnswerOf(err) != adapter.Refused || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing directory: got %v, want a refusal that is ErrNotExist", err)
	}
	t.Setenv("PATH", missing)
	a, err = exec.New(exec.Options{Command: "exit 0"})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Insert(t.Context(), adapter.Prompt{MID: "m1"}); adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("no sh: got %v, want it refused", err)
	}
}

// errHangs is what insert returns when Insert does not.
var errHangs = errors.New("got no return, want one")

// insert runs a command with a text.
func insert(t *testing.T, o exec.Options, p adapter.Prompt) error {
	t.Helper()
	a, err := exec.New(o)
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- a.Insert(t.Context(), p) }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		return errHangs
	}
}
