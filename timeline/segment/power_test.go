package segment_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docket-go/docket/timeline/segment"
)

const blockBytes = 512 // what a disk writes whole or not at all

// A change is one call that changed files or made changes durable. Paths are
// relative to the session directory.
type change struct {
	do       string
	path, to string
	off      int64
	data     []byte
}

// A recorder notes what a log asks of its disk. The syncs are noted and left out.
type recorder struct {
	root    string
	changes []change
}

func (r *recorder) note(c change, err error) error {
	if err == nil {
		c.path = r.rel(c.path)
		r.changes = append(r.changes, c)
	}
	return err
}

// rel returns a path relative to the session directory, which is empty itself.
func (r *recorder) rel(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, r.root), "/")
}

func (r *recorder) disk() segment.Disk {
	real := segment.RealDisk()
	return segment.Disk{
		Create: func(path string, flags int) (*os.File, error) {
			f, err := real.Create(path, flags)
			return f, r.note(change{do: "create", path: path}, err)
		},
		Mkdir: func(path string) error { return r.note(change{do: "create", path: path}, real.Mkdir(path)) },
		Write: func(f *os.File, p []byte) (int, error) {
			n, err := real.Write(f, p)
			return n, r.note(change{do: "write", path: f.Name(), off: -1, data: bytes.Clone(p)}, err)
		},
		WriteAt: func(f *os.File, p []byte, off int64) (int, error) {
			n, err := real.WriteAt(f, p, off)
			return n, r.note(change{do: "write", path: f.Name(), off: off, data: bytes.Clone(p)}, err)
		},
		Truncate: func(f *os.File, size int64) error {
			return r.note(change{do: "truncate", path: f.Name(), off: size}, real.Truncate(f, size))
		},
		DataSync: func(f *os.File) error { return r.note(change{do: "sync", path: f.Name()}, nil) },
		SyncDir:  func(path string) error { return r.note(change{do: "sync names", path: path}, nil) },
		Rename: func(from, to string) error {
			return r.note(change{do: "rename", path: from, to: r.rel(to)}, real.Rename(from, to))
		},
		Remove: func(path string) error { return r.note(change{do: "remove", path: path}, real.Remove(path)) },
	}
}

// A node is a file or directory as the disk has it, and what was asked of it since.
type node struct {
	bytes   []byte
	names   map[string]*node
	pending []pending
}

// A pending change is a write or a truncation of a file, or puts a name into a
// directory, or takes one out of it.
type pending struct {
	change
	node *node
}

// A machine is the session directory after a number of changes.
type machine struct {
	root node
	now  map[string]*node // by path, as a running system shows them
}

func replay(changes []change) *machine {
	m := &machine{now: map[string]*node{}}
	for _, c := range changes {
		m.apply(c)
	}
	return m
}

func (m *machine) dir(path string) *node {
	if d := filepath.Dir(path); d != "." {
		return m.now[d]
	}
	return &m.root
}

func (m *machine) apply(c change) {
	n := m.now[c.path]
	if n == nil {
		n = &node{}
	}
	switch c.do {
	case "create":
		m.now[c.path] = n
		m.dir(c.path).add(pending{c, n})
	case "rename":
		delete(m.now, c.path)
		m.now[c.to] = n
		m.dir(c.path).add(pending{c, n})
	case "remove":
		delete(m.now, c.path)
		m.dir(c.path).add(pending{c, n})
	case "write":
		if c.off < 0 {
			c.off = int64(len(n.content(n.pending)))
		}
		n.add(pending{change: c})
	case "truncate":
		n.add(pending{change: c})
	case "sync":
		n.bytes, n.pending = n.content(n.pending), nil
	case "sync names":
		if c.path == "" {
			n = &m.root
		}
		n.names, n.pending = n.entries(n.pending), nil
	}
}

func (n *node) add(p pending) { n.pending = append(n.pending, p) }

// content returns the bytes of a file after some of its changes.
func (n *node) content(changes []pending) []byte {
	out := bytes.Clone(n.bytes)
	for _, c := range changes {
		if c.do == "truncate" {
			out = out[:c.off]
			continue
		}
		if end := c.off + int64(len(c.data)); end > int64(len(out)) {
			out = append(out, make([]byte, end-int64(len(out)))...)
		}
		copy(out[c.off:], c.data)
	}
	return out
}

// entries returns the names of a directory after some of its changes.
func (n *node) entries(changes []pending) map[string]*node {
	out := maps.Clone(n.names)
	if out == nil {
		out = map[string]*node{}
	}
	for _, c := range changes {
		if c.do != "create" {
			delete(out, filepath.Base(c.path))
		}
		switch c.do {
		case "create":
			out[filepath.Base(c.path)] = c.node
		case "rename":
			out[filepath.Base(c.to)] = c.node
		}
	}
	return out
}

// A content is what a power cut may leave of a file.
type content struct {
	bytes []byte
	hole  bool // NULs stand before bytes that were written later
}

// contents returns what a power cut may leave of the file: any number of its
// changes, the last of them torn between two blocks or filled up with NULs, or with
// one of its blocks lost.
func (n *node) contents() (out []content) {
	for k := range len(n.pending) + 1 {
		out = append(out, content{bytes: n.content(n.pending[:k])})
		if k == len(n.pending) || n.pending[k].do != "write" {
			continue
		}
		c := n.pending[k]
		whole, end := n.content(n.pending[:k+1]), c.off+int64(len(c.data))
		for from := c.off; from < end; from += blockBytes - from%blockBytes {
			to := min(end, from+blockBytes-from%blockBytes)
			out = append(out, content{bytes: whole[:from]}, content{bytes: blank(whole, from, end)})
			if to < end {
				out = append(out, content{bytes: blank(whole, from, to), hole: true})
			}
		}
	}
	return out
}

func blank(data []byte, from, to int64) []byte {
	out := bytes.Clone(data)
	clear(out[from:to])
	return out
}

// subsets returns the subsets of some changes of a directory, all of them if they
// are few, else the first ones and all but one.
func subsets(changes []pending) (out [][]pending) {
	if len(changes) <= 4 {
		for bits := range 1 << len(changes) {
			var some []pending
			for i, c := range changes {
				if bits>>i&1 == 1 {
					some = append(some, c)
				}
			}
			out = append(out, some)
		}
		return out
	}
	for i := range len(changes) + 1 {
		out = append(out, changes[:i], slices.Concat(changes[:i], changes[min(i+1, len(changes)):]))
	}
	return out
}

// A wreck is what a power cut may leave of the session directory.
type wreck struct {
	files map[string][]byte
	hole  bool
}

// wrecks yields everything that a power cut may leave: some of the names that were
// not synced, with one file in any state, and the others without their last changes
// or with all of them.
func (m *machine) wrecks(yield func(wreck)) {
	for _, rootChanges := range subsets(m.root.pending) {
		dir := m.root.entries(rootChanges)["timeline"]
		if dir == nil {
			yield(wreck{})
			continue
		}
		for _, changes := range subsets(dir.pending) {
			names := dir.entries(changes)
			for _, others := range []bool{false, true} {
				yield(wreckOf(names, others, "", content{}))
				for name, n := range names {
					for _, c := range n.contents() {
						yield(wreckOf(names, others, name, c))
					}
				}
			}
		}
	}
}

// wreckOf puts the files of a directory together: one as it is given.
func wreckOf(names map[string]*node, changed bool, one string, c content) wreck {
	w := wreck{files: map[string][]byte{}}
	for name, n := range names {
		w.files["timeline/"+name] = n.bytes
		if changed {
			w.files["timeline/"+name] = n.content(n.pending)
		}
	}
	if one != "" {
		w.files["timeline/"+one], w.hole = c.bytes, c.hole
	}
	return w
}
