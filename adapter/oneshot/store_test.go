package oneshot_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/adapter/oneshot"
	"github.com/docket-go/docket/lock/step"
)

func TestFileStoreKeepsTheLast(t *testing.T) {
	s := oneshot.FileStore{Dir: t.TempDir(), Preset: "codex"}
	if id, err := s.Load("/w"); id != "" || err != nil {
		t.Errorf("empty: got %q, %v, want nothing", id, err)
	}
	for _, id := range []string{"a", "b\n\"c"} {
		if err := s.Save("/w", id); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Load("/w"); got != id || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, id)
		}
	}
	if id, err := s.Load("/elsewhere"); id != "" || err != nil {
		t.Errorf("another directory: got %q, %v, want nothing", id, err)
	}
	s.Preset = "gemini"
	if id, err := s.Load("/w"); id != "" || err != nil {
		t.Errorf("another preset: got %q, %v, want nothing", id, err)
	}
}

// TestFileStoreDamaged cuts the file at every byte: it is never read as empty.
func TestFileStoreDamaged(t *testing.T) {
	s := oneshot.FileStore{Dir: t.TempDir(), Preset: "codex"}
	if err := s.Save("/w", "a"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Dir, "oneshot-session.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := []string{`{"version":2,"preset":"codex","cwd":"/w","session":"a"}`, string(whole) + "{}", "null"}
	for i := range len(whole) - 1 {
		damaged = append(damaged, string(whole[:i]))
	}
	for _, content := range damaged {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if id, err := s.Load("/w"); !errors.Is(err, oneshot.ErrStore) {
			t.Errorf("%q: got %q, %v, want ErrStore", content, id, err)
		}
	}
}

// TestFileStoreKilled kills a process between any two steps of a Save.
func TestFileStoreKilled(t *testing.T) {
	for name, want := range map[string]string{
		"adapter/host: oneshot-session.json is drafted":  "old",
		"adapter/host: oneshot-session.json is in place": "new",
	} {
		t.Run(name, func(t *testing.T) {
			s := oneshot.FileStore{Dir: t.TempDir(), Preset: "codex"}
			if err := s.Save("/w", "old"); err != nil {
				t.Fatal(err)
			}
			child := exec.Command(os.Args[0])
			child.Env = append(os.Environ(), "ONESHOT_TEST_SAVE="+s.Dir, "ONESHOT_TEST_STEP="+name)
			var died *exec.ExitError
			if err := child.Run(); !errors.As(err, &died) || died.ExitCode() == 0 {
				t.Fatalf("child: got %v, want that it was killed", err)
			}
			if id, err := s.Load("/w"); id != want || err != nil {
				t.Errorf("got %q, %v, want %q", id, err, want)
			}
			if err := s.Save("/w", "newer"); err != nil {
				t.Errorf("after it: %v", err)
			}
		})
	}
}

// saveAndDie is the child of TestFileStoreKilled.
func saveAndDie(dir string) int {
	step.Hook(func(name string) {
		if name == os.Getenv("ONESHOT_TEST_STEP") {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
	})
	_ = oneshot.FileStore{Dir: dir, Preset: "codex"}.Save("/w", "new")
	return 0
}
