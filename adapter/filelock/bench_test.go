package filelock_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/adapter/filelock"
)

// BenchmarkTry opens a file, locks it, and lets it go; beside it, the same without the
// lock.
func BenchmarkTry(b *testing.B) {
	path := filepath.Join(b.TempDir(), "f")
	for name, try := range map[string]func(*os.File) (bool, error){
		"locked":   filelock.Try,
		"unlocked": func(*os.File) (bool, error) { return true, nil },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
				if err != nil {
					b.Fatal(err)
				}
				free, err := try(f)
				if errors.Is(err, filelock.ErrUnsupported) {
					b.Skip(err)
				}
				if !free || err != nil {
					b.Fatalf("got %v, %v, want it locked", free, err)
				}
				if err := f.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
