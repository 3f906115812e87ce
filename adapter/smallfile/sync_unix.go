//go:build unix

package smallfile

import (
	"errors"
	"os"
)

// SyncDir puts the names in a directory on stable storage.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
