package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/lock/step"
)

// maxSmallFile bounds what is read of a file that holds a line.
const maxSmallFile = 64 << 10

var errNotPlain = errors.New("not a small plain file")

// readFile reads a small file of the session directory. What is not a plain file is
// refused: a pipe that somebody put there would never end.
func readFile(dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name)
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxSmallFile {
		return nil, fmt.Errorf("%s is %w: remove it", path, errNotPlain)
	}
	return io.ReadAll(io.LimitReader(f, maxSmallFile))
}

// writeFile replaces a small file of the session directory in one step. It is not synced:
// it speaks of processes, which do not outlive a power cut.
func writeFile(dir, name string, data []byte) error {
	path := filepath.Join(dir, name)
	f, err := createFile(path + ".new")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	step.At("adapter/host: " + name + " is written")
	return os.Rename(f.Name(), path)
}

// createFile makes a file in the place of whatever a dead process or somebody else
// left there.
func createFile(path string) (*os.File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|openFlags, 0o600)
}
