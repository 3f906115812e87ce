package durable_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/docket-go/docket/lock/durable"
)

func TestNames(t *testing.T) {
	dir := t.TempDir()
	if err := durable.Names(dir); err != nil {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := durable.Names(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v where there is no directory, want that", err)
	}
}

// A file system that cannot sync a directory keeps nobody from working on it.
func TestNamesWhereNobodyCan(t *testing.T) {
	const dir = "/proc/self"
	d, err := os.Open(dir)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	if d.Sync() == nil {
		t.Skip(dir + " can be synced here")
	}
	if err := durable.Names(dir); err != nil {
		t.Errorf("got %v, want that it is left to itself", err)
	}
}

func BenchmarkNames(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		if err := durable.Names(dir); err != nil {
			b.Fatal(err)
		}
	}
}
