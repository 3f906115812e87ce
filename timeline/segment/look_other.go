//go:build !unix

package segment

import (
	"io"
	"os"
	"path/filepath"
)

// readEnds reads the first and the last bytes of the plain file name in the directory
// dir, and reports whether none of others is there.
func (l *Looker) readEnds(dir, name string, others []string) (e ends, alone bool, err error) {
	path := filepath.Join(dir, name)
	info, err := os.Lstat(path)
	if err != nil {
		return ends{}, false, err
	}
	if !info.Mode().IsRegular() {
		return ends{}, false, os.ErrInvalid
	}
	f, err := os.Open(path)
	if err != nil {
		return ends{}, false, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return ends{}, false, err
	}
	e = ends{size: info.Size(), changed: info.ModTime().UnixNano()}
	n, err := f.ReadAt(l.head[:], 0)
	if err != nil && err != io.EOF {
		return ends{}, false, err
	}
	e.head = l.head[:n]
	n, err = f.ReadAt(l.tail[:min(e.size, lookBytes)], max(0, e.size-lookBytes))
	if err != nil && err != io.EOF {
		return ends{}, false, err
	}
	e.tail = l.tail[:n]
	for _, other := range others {
		if isThere(filepath.Join(dir, other)) {
			return e, false, nil
		}
	}
	return e, true, nil
}
