package oneshot_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/adapter/oneshot"
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
