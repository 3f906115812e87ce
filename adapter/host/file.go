package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/docket-go/docket/adapter/smallfile"
)

// ErrFile is returned by [File.Load] for a file that does not make sense. It is never
// read as empty.
var ErrFile = errors.New("host: the file makes no sense")

// A File is a small JSON file of a session directory, in which a driver keeps what
// must outlive its program, such as the program's own id of the session. Only the
// host of the session may use it.
type File struct {
	Dir  string
	Name string
}

// Path returns where the file is.
func (f File) Path() string { return filepath.Join(f.Dir, f.Name) }

// Load decodes the file into v, a pointer, and returns false if there is none. A file
// that is no JSON value, or no plain file of at most 64 KiB, is [ErrFile]; any other
// error says nothing about the file, only that it cannot be read now.
func (f File) Load(v any) (found bool, err error) {
	data, err := smallfile.Read(f.Path())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case errors.Is(err, smallfile.ErrNotPlain) || errors.Is(err, syscall.ELOOP): // a link
		return false, fmt.Errorf("%w: %s is %w", ErrFile, f.Path(), smallfile.ErrNotPlain)
	case err != nil:
		return false, fmt.Errorf("host: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if err = d.Decode(v); err == nil && d.More() {
		err = errors.New("something stands behind the value")
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return false, fmt.Errorf("%w: %s: %w", ErrFile, f.Path(), err)
	}
	return true, nil
}

// Save replaces the file by the JSON of v. Nil promises that Load returns it from now
// on, also after a power cut. An error leaves the file as it was, or as new; if the
// process dies, one of the two is there, and perhaps a draft that the next Save
// replaces.
func (f File) Save(v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("host: %s: %w", f.Path(), err)
	}
	if data = append(data, '\n'); len(data) > smallfile.MaxBytes {
		return fmt.Errorf("host: %s: %d bytes are more than is read of it", f.Path(), len(data))
	}
	if err := smallfile.Replace(f.Path(), data); err != nil {
		return fmt.Errorf("host: %w", err)
	}
	return nil
}
