package segment

import "os"

// A disk is the calls whose failure the tests bring about.
type disk struct {
	write    func(f *os.File, p []byte) (int, error)
	truncate func(f *os.File, size int64) error
	dataSync func(f *os.File) error
	syncDir  func(path string) error
	readDir  func(d *os.File) ([]os.DirEntry, error)
}

var realDisk = disk{
	write:    (*os.File).Write,
	truncate: (*os.File).Truncate,
	dataSync: dataSync,
	syncDir:  syncDir,
	readDir:  func(d *os.File) ([]os.DirEntry, error) { return d.ReadDir(-1) },
}
