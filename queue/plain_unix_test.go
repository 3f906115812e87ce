//go:build unix

package queue_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// Nothing outside of the directory is read or written through what stands in the
// place of a file.
func TestNotAPlainFile(t *testing.T) {
	for name, plant := range map[string]func(path, outside string) error{
		"symlink":   func(path, outside string) error { return os.Symlink(outside, path) },
		"dangling":  func(path, outside string) error { return os.Symlink(outside+".no", path) },
		"directory": func(path, _ string) error { return os.Mkdir(path, 0o700) },
		"pipe":      func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			outside := filepath.Join(t.TempDir(), "outside")
			content := "[\n" + lineA + "\n]\n"
			if err := os.WriteFile(outside, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			d := newDesk(t, queue.Options{})
			if err := plant(d.path(), outside); err != nil {
				t.Fatal(err)
			}
			if _, err := d.List(); !errors.Is(err, queue.ErrCorrupt) {
				t.Errorf("list: got %v, want ErrCorrupt", err)
			}
			if err := d.hold(func(held *lock.Record) error { return d.Enqueue(held, entry("z")) }); !errors.Is(err, queue.ErrCorrupt) {
				t.Errorf("enqueue: got %v, want ErrCorrupt", err)
			}
			d.must(func(held *lock.Record) error { _, err := d.Rebuild(held, []queue.Entry{entry("z")}); return err })
			d.atRest([]string{"z"})

			if err := plant(d.path()+".new", outside); err != nil {
				t.Fatal(err)
			}
			d.enqueue("y")
			d.remove("y")
			d.atRest([]string{"z"})
			if got, err := os.ReadFile(outside); err != nil || string(got) != content {
				t.Errorf("outside: got %q, %v", got, err)
			}
		})
	}
}
