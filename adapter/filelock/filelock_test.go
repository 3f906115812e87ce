package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/adapter/filelock"
)

// TestTry has one handle hold the lock at a time, and its end free it.
func TestTry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	free, err := filelock.Try(first)
	if errors.Is(err, filelock.ErrUnsupported) {
		t.Skip(err)
	}
	if !free || err != nil {
		t.Fatalf("got %v, %v, want it locked", free, err)
	}
	if free, err := filelock.Try(second); free || err != nil {
		t.Errorf("another handle: got %v, %v, want that it is held", free, err)
	}
	if data, err := os.ReadFile(path); err != nil || len(data) != 0 {
		t.Errorf("got %q, %v, want that it can be read meanwhile", data, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if free, err := filelock.Try(second); !free || err != nil {
		t.Errorf("afterwards: got %v, %v, want it locked", free, err)
	}
	closed := open()
	closed.Close()
	if free, err := filelock.Try(closed); free || err == nil {
		t.Errorf("a closed file: got %v, %v, want an error", free, err)
	}
}
