//go:build linux || darwin

package smallfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/docket-go/docket/adapter/smallfile"
)

// TestPlanted puts a link and a pipe in the way: neither is followed nor waited for.
func TestPlanted(t *testing.T) {
	for name, plant := range map[string]func(path, elsewhere string) error{
		"link": func(path, elsewhere string) error { return os.Symlink(elsewhere, path) },
		"pipe": func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		dir, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "secret")
		path := filepath.Join(dir, "f")
		if err := errors.Join(os.WriteFile(elsewhere, []byte("secret"), 0o600), plant(path, elsewhere), plant(path+".new", elsewhere)); err != nil {
			t.Fatal(err)
		}
		if got, err := smallfile.Read(path); !errors.Is(err, smallfile.ErrNotPlain) && !errors.Is(err, syscall.ELOOP) {
			t.Errorf("%s: got %q, %v, want it refused", name, got, err)
		}
		if err := smallfile.Replace(path, []byte("new")); err != nil || read(t, path) != "new" {
			t.Errorf("%s: got %v, want it replaced", name, err)
		}
		if data, err := os.ReadFile(elsewhere); string(data) != "secret" {
			t.Errorf("%s: got %q, %v elsewhere, want it untouched", name, data, err)
		}
	}
}
