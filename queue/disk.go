package queue

import (
	"errors"
	"os"

	"github.com/docket-go/docket/lock/durable"
)

// A disk is how a queue touches its files, each call one that can fail.
type disk struct {
	// What tests replace: trouble is asked before each call but writes.
	writeAt func(f *os.File, p []byte, at int64) (int, error)
	trouble func(call, path string) error
}

var realDisk = disk{
	writeAt: (*os.File).WriteAt,
	trouble: func(string, string) error { return nil },
}

// create makes a file that only its writer knows; it must not be there.
func (d disk) create(path string) (*os.File, error) {
	if err := d.trouble("create", path); err != nil {
		return nil, err
	}
	// Package os tries a file without these flags out as one that can be polled.
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|openFlags, 0o600)
}

// open opens a plain file and nothing that a path could lead to instead.
func (d disk) open(path string, flag int) (*os.File, os.FileInfo, error) {
	if err := d.trouble("open", path); err != nil {
		return nil, nil, err
	}
	return openPlain(path, flag)
}

func (d disk) rename(from, to string) error {
	if err := d.trouble("rename", to); err != nil {
		return err
	}
	return os.Rename(from, to)
}

func (d disk) link(from, to string) error {
	if err := d.trouble("link", to); err != nil {
		return err
	}
	return os.Link(from, to)
}

func (d disk) remove(path string) error {
	if err := d.trouble("remove", path); err != nil {
		return err
	}
	return os.Remove(path)
}

func (d disk) truncate(f *os.File, size int64) error {
	if err := d.trouble("truncate", f.Name()); err != nil {
		return err
	}
	return f.Truncate(size)
}

func (d disk) sync(f *os.File) error {
	if err := d.trouble("sync", f.Name()); err != nil {
		return err
	}
	return f.Sync()
}

// syncDir puts the names of a directory on stable storage.
func (d disk) syncDir(path string) error {
	if err := d.trouble("sync", path); err != nil {
		return err
	}
	return durable.Names(path)
}

// createNew creates a file, whatever stands in its way. A directory with something
// in it is kept, under the name that aside gives.
func (d disk) createNew(path string, aside func(path string) string) (*os.File, error) {
	f, err := d.create(path)
	if !errors.Is(err, os.ErrExist) {
		return f, err
	}
	if err := d.remove(path); err != nil {
		if info, statErr := os.Lstat(path); statErr != nil || !info.IsDir() {
			return nil, err
		}
		if err := d.rename(path, aside(path)); err != nil {
			return nil, err
		}
	}
	return d.create(path)
}
