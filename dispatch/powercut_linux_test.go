package dispatch_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// onDisk reports whether the kernel has no byte of the file left to write back, so
// that a missing sync is seen although nobody pulls the plug.
func onDisk(t testing.TB, path string) bool {
	t.Helper()
	clean, err := cleanInCache(path)
	must(t, err)
	return clean
}

func cleanInCache(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	var all unix.CachestatRange
	var got unix.Cachestat_t
	err = unix.Cachestat(uint(f.Fd()), &all, &got, 0)
	return got.Dirty+got.Writeback == 0, err
}

// seesSyncs reports whether onDisk tells the truth here: older kernels lack the
// call, and some file systems have no page to write back.
var seesSyncs = sync.OnceValue(func() bool {
	dir, err := os.MkdirTemp("", "docket-sync-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "unsynced")
	if err := os.WriteFile(path, []byte("not synced"), 0o600); err != nil {
		return false
	}
	clean, err := cleanInCache(path)
	return err == nil && !clean
})
