//go:build !unix

package queue

import "os"

// A status is what the system says of a file.
type status struct {
	info  os.FileInfo
	links uint64 // how many names it has; 0, as that is not known here
	size  int64
	room  int64  // bytes that it has on the disk
	mode  uint32 // who may do what with it; not known here
}

func (s *status) same(o *status) bool { return os.SameFile(s.info, o.info) }

func statusAt(path string) (status, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return status{}, err
	}
	return status{info: info, size: info.Size(), room: info.Size()}, nil
}

func statusOf(f *os.File) (status, error) {
	info, err := f.Stat()
	if err != nil {
		return status{}, err
	}
	return status{info: info, size: info.Size(), room: info.Size()}, nil
}
