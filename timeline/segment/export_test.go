package segment

import (
	"bytes"
	"os"
)

// A Disk replaces the calls that are not nil.
type Disk struct {
	Write    func(f *os.File, p []byte) (int, error)
	Truncate func(f *os.File, size int64) error
	DataSync func(f *os.File) error
	SyncDir  func(path string) error
	ReadDir  func(d *os.File) ([]os.DirEntry, error)
}

// DataSync is the real one.
var DataSync = dataSync

func (l *Log) SetDisk(d Disk) {
	l.disk = realDisk
	if d.Write != nil {
		l.disk.write = d.Write
	}
	if d.Truncate != nil {
		l.disk.truncate = d.Truncate
	}
	if d.DataSync != nil {
		l.disk.dataSync = d.DataSync
	}
	if d.SyncDir != nil {
		l.disk.syncDir = d.SyncDir
	}
	if d.ReadDir != nil {
		l.disk.readDir = d.ReadDir
	}
}

// NewHeader returns a header line with the given facts and filter.
func NewHeader(facts []byte, keys string) []byte {
	h := header{Time: "2026-07-16T00:00:00.000Z", Version: version, Epoch: Epoch{1}, First: 7, Prev: "ab", Facts: facts, Keys: []byte(keys), HasKeys: keys != ""}
	line := h.append(nil)
	return line[:len(line)-1]
}

// RewriteHeader parses a header line and writes it again.
func RewriteHeader(line []byte) (again, facts []byte, err error) {
	h, err := parseHeader(line)
	if err != nil {
		return nil, nil, err
	}
	again = h.append(nil)
	return again[:len(again)-1], h.Facts, nil
}

// IndexEnds returns where the frames end that either index of a file lists.
func IndexEnds(data []byte) (ends []int64) {
	r, size := bytes.NewReader(data), int64(len(data))
	_, frames, _ := readSummary(r, size)
	table, _ := readTable(r, size)
	for _, f := range append(frames, table...) {
		ends = append(ends, f.start+f.bytes)
	}
	return ends
}
