//go:build unix

package file_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock/step"
)

// A file that was rotated away between the opening and the lock is not written:
// nobody would look for the prompt there.
func TestReplacedFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a := open(t, path)
	restore := step.Hook(func(name string) {
		if name != "adapter/file: opened" {
			return
		}
		if err := errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Error(err)
		}
	})
	err := a.Insert(t.Context(), adapter.Prompt{MID: "m1"})
	restore()
	if !errors.Is(err, adapter.ErrBusy) {
		t.Errorf("got %v, want ErrBusy", err)
	}
	equal(t, "old file", mids(t, path+".old"), nil)
	if err := a.Insert(t.Context(), adapter.Prompt{MID: "m1"}); err != nil {
		t.Fatal(err)
	}
	equal(t, "new file", mids(t, path), []string{"m1"})
}

func TestPipeIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	a := open(t, path)
	if err := a.Insert(t.Context(), adapter.Prompt{MID: "m1"}); adapter.AnswerOf(err) != adapter.Refused {
		t.Errorf("Insert: got %v, want it refused", err)
	}
	if p, err := a.Lookup(t.Context(), "m1"); p != adapter.CannotTell || err == nil {
		t.Errorf("Lookup: got %s, %v, want cannot tell and the reason", p, err)
	}
}
