package segment

import (
	"os"

	"github.com/docket-go/docket/lock/durable"
	"github.com/docket-go/docket/lock/stamp"
)

// A disk is the calls that change files or make changes durable, and the reading of
// the directory. The tests make them fail, and replay what a power cut leaves of
// them.
type disk struct {
	create   func(path string, flags int) (*os.File, error) // a file that must not be there
	mkdir    func(path string) error
	write    func(f *os.File, p []byte) (int, error)
	writeAt  func(f *os.File, p []byte, off int64) (int, error)
	truncate func(f *os.File, size int64) error
	dataSync func(f *os.File) error
	writeOut func(f *os.File, from, to int64) error
	syncDir  func(path string) error
	rename   func(from, to string) error
	remove   func(path string) error
	readDir  func(d *os.File) ([]os.DirEntry, error)
	highest  func(d *os.File) (n uint64, ok bool)
	moment   func(d *stamp.Dir) (words string, settled bool)
}

var realDisk = disk{
	create: func(path string, flags int) (*os.File, error) {
		return os.OpenFile(path, flags|os.O_CREATE|os.O_EXCL|openFlags, 0o600)
	},
	mkdir:    func(path string) error { return os.Mkdir(path, 0o700) },
	write:    (*os.File).Write,
	writeAt:  (*os.File).WriteAt,
	truncate: (*os.File).Truncate,
	dataSync: dataSync,
	writeOut: writeOut,
	syncDir:  durable.Names,
	rename:   os.Rename,
	remove:   os.Remove,
	readDir:  func(d *os.File) ([]os.DirEntry, error) { return d.ReadDir(-1) },
	highest:  highest,
	moment:   (*stamp.Dir).Moment,
}
