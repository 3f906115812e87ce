//go:build unix

package host

import (
	"errors"
	"os"
)

// syncDir puts the names in a directory on stable storage.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
