package segment

import "os"

// A Disk replaces the calls that are not nil.
type Disk struct {
	Write    func(f *os.File, p []byte) (int, error)
	Truncate func(f *os.File, size int64) error
	DataSync func(f *os.File) error
	SyncDir  func(path string) error
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
}
