//go:build unix

package durable

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Names returns nil once every change of a name in the directory that was made before
// the call, such as a file that was made, renamed or removed, is on stable storage. A
// file system that has no way to sync a directory is left to itself, and that is no
// error. Any other error says that nothing is promised. It may be called at any time.
func Names(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
