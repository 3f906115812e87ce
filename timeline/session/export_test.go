package session

import (
	"os"

	"github.com/docket-go/docket/timeline"
)

// Known returns r without what only the package itself uses.
func Known(r Record) Record {
	r.frozen, r.declared, r.fields = nil, nil, nil
	return r
}

// Pen returns the handle on the log that declarations go through.
func (s *Session) Pen() *timeline.Log { return s.pen.log }

// A Disk is the calls by which a store touches its files.
type Disk struct {
	stamp     func(path string) stamp
	Open      func(path string) (*os.File, error)
	Create    func(path string) (*os.File, error)
	Names     func(dir string) ([]os.DirEntry, error)
	Mkdir     func(path string) error
	Write     func(f *os.File, p []byte) (int, error)
	Sync      func(f *os.File) error
	SyncDir   func(path string) error
	Rename    func(from, to string) error
	Remove    func(path string) error
	RemoveAll func(path string) error
}

// RealDisk returns what a store uses by itself.
func RealDisk() Disk {
	d := realDisk
	return Disk{d.stamp, d.open, d.create, d.names, d.mkdir, d.write, d.sync, d.syncDir, d.rename, d.remove, d.removeAll}
}

// SetDisk gives the store and its sessions another disk.
func (s *Store) SetDisk(d Disk) {
	s.disk = disk{d.stamp, d.Open, d.Create, d.Names, d.Mkdir, d.Write, d.Sync, d.SyncDir, d.Rename, d.Remove, d.RemoveAll}
}

// A Field is one field of a stored record.
type Field struct{ Name, Key, Value string }

// Fields returns the fields of data, which must be one JSON object.
func Fields(data []byte) (all []Field, err error) {
	o, err := parseObject(data)
	for _, f := range o {
		all = append(all, Field{f.name, string(f.key), string(f.value)})
	}
	return all, err
}
