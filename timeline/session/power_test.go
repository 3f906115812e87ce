package session_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/session"
)

const blockBytes = 512 // what a disk writes whole or not at all

// A change is one call that changed files or made changes durable. Paths are
// relative to the recorder's root.
type change struct {
	do       string
	path, to string
	data     []byte
}

// A recorder notes what a store asks of its disk. The syncs are noted and left out.
type recorder struct {
	root    string
	changes []change
	trouble *trouble // nil: none
}

// do makes one call, unless trouble strikes, and notes it if it went well.
func (r *recorder) do(c change, real func() error) error {
	err := r.trouble.strike(c.do, c.path)
	if err == nil {
		err = real()
	}
	if err == nil {
		c.path, c.to = r.rel(c.path), r.rel(c.to)
		r.changes = append(r.changes, c)
	}
	return err
}

func (r *recorder) rel(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, r.root), "/")
}

func (r *recorder) disk() session.Disk {
	real := session.RealDisk()
	return session.Disk{
		Open: func(path string) (f *os.File, err error) {
			if err := r.trouble.strike("open", path); err != nil {
				return nil, err
			}
			return real.Open(path)
		},
		Create: func(path string) (f *os.File, err error) {
			err = r.do(change{do: "create", path: path}, func() error { f, err = real.Create(path); return err })
			return f, err
		},
		Names: func(dir string) ([]os.DirEntry, error) {
			if err := r.trouble.strike("names", dir); err != nil {
				return nil, err
			}
			return real.Names(dir)
		},
		Mkdir: func(path string) error {
			return r.do(change{do: "mkdir", path: path}, func() error { return real.Mkdir(path) })
		},
		Write: func(f *os.File, p []byte) (n int, err error) {
			p, fault := r.trouble.write(f.Name(), p)
			n, err = real.Write(f, p)
			r.changes = append(r.changes, change{do: "write", path: r.rel(f.Name()), data: bytes.Clone(p[:n])})
			if fault != nil {
				err = fault.err()
			}
			return n, err
		},
		Sync:    func(f *os.File) error { return r.do(change{do: "sync", path: f.Name()}, succeed) },
		SyncDir: func(path string) error { return r.do(change{do: "sync names", path: path}, succeed) },
		Rename: func(from, to string) error {
			return r.do(change{do: "rename", path: from, to: to}, func() error { return real.Rename(from, to) })
		},
		Remove: func(path string) error {
			return r.do(change{do: "remove", path: path}, func() error { return real.Remove(path) })
		},
		RemoveAll: func(path string) error {
			return r.do(change{do: "remove all", path: path}, func() error { return real.RemoveAll(path) })
		},
	}
}

func succeed() error { return nil }

// observe notes what the log of the session s has become, which has a disk of its own.
func (r *recorder) observe(t failer) {
	paths, err := filepath.Glob(filepath.Join(r.root, "store/sessions/s/timeline/*.ndjson"))
	check(t, err)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		check(t, err)
		r.changes = append(r.changes, change{do: "log", path: r.rel(path), data: data})
	}
}

// acknowledge notes that the log is on stable storage: its Sync has returned.
func (r *recorder) acknowledge(t failer) {
	r.observe(t)
	r.changes = append(r.changes, change{do: "log synced"})
}

// A node is a file or directory: as the disk has it, and as the system shows it.
type node struct {
	onDisk, now   []byte
	durable, here map[string]*node // nil in a file
	log           bool
}

func newDir() *node { return &node{durable: map[string]*node{}, here: map[string]*node{}} }

// A naming puts a name into a directory, or takes it out if node is nil.
type naming struct {
	in   *node
	name string
	node *node
}

// A machine is a directory tree after a number of changes, with the namings that
// were not synced. Those of one rename take effect together.
type machine struct {
	root    *node
	pending [][]naming
}

// replay returns what has become of a tree that is durable.
func replay(base wreck, changes []change) *machine {
	m := &machine{root: newDir()}
	for _, path := range slices.Sorted(maps.Keys(base)) {
		n := newDir()
		if data := base[path]; data != nil {
			n = &node{onDisk: data, now: data, log: filepath.Base(filepath.Dir(path)) == "timeline"}
		}
		own := m.naming(path, n)
		own.on(own.in.here)
		own.on(own.in.durable)
	}
	for _, c := range changes {
		m.apply(c)
	}
	return m
}

// at returns what stands at a path, nil if it is outside of the tree.
func (m *machine) at(path string) *node {
	n := m.root
	for _, name := range strings.Split(path, "/") {
		if name != "" && n != nil {
			n = n.here[name]
		}
	}
	return n
}

func (m *machine) naming(path string, n *node) naming {
	dir, base := filepath.Split(path)
	return naming{m.at(dir), base, n}
}

func (m *machine) rename(namings ...naming) {
	for _, n := range namings {
		n.on(n.in.here)
	}
	m.pending = append(m.pending, namings)
}

func (n naming) on(names map[string]*node) {
	if n.node == nil {
		delete(names, n.name)
	} else {
		names[n.name] = n.node
	}
}

func (m *machine) apply(c change) {
	n := m.at(c.path)
	switch c.do {
	case "create":
		m.rename(m.naming(c.path, &node{}))
	case "mkdir":
		m.rename(m.naming(c.path, newDir()))
	case "rename":
		m.rename(m.naming(c.path, nil), m.naming(c.to, n))
	case "remove":
		m.rename(m.naming(c.path, nil))
	case "remove all":
		if n == nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(n.here)) {
			m.rename(naming{n, name, nil})
		}
		m.rename(m.naming(c.path, nil))
	case "write":
		n.now = append(n.now[:len(n.now):len(n.now)], c.data...)
	case "sync":
		n.onDisk = n.now
	case "sync names":
		m.syncNames(n)
	case "log":
		m.grow(c.path, c.data)
	case "log synced":
		m.each(m.root, func(n *node) {
			if n.log {
				n.onDisk = n.now
			}
		})
	}
}

func (m *machine) each(n *node, do func(n *node)) {
	do(n)
	for _, child := range n.here {
		m.each(child, do)
	}
}

func (m *machine) syncNames(dir *node) {
	m.pending = slices.DeleteFunc(m.pending, func(namings []naming) bool {
		if !slices.ContainsFunc(namings, func(n naming) bool { return n.in == dir }) {
			return false
		}
		for _, n := range namings {
			n.on(n.in.durable)
		}
		return true
	})
}

// grow sets the content of a log, whose names are durable before it holds anything.
func (m *machine) grow(path string, data []byte) {
	dir := m.at(filepath.Dir(path))
	if dir == nil {
		dir = newDir()
		parent := m.naming(filepath.Dir(path), dir)
		parent.on(parent.in.here)
		parent.on(parent.in.durable)
	}
	n := m.at(path)
	if n == nil {
		n = &node{log: true}
		own := naming{dir, filepath.Base(path), n}
		own.on(dir.here)
		own.on(dir.durable)
	}
	n.now = data
}

// contents returns what a power cut may leave of a file: it without what was not
// synced, or with a part of that, torn between two blocks or filled up with NULs.
func (n *node) contents() (all [][]byte) {
	same := len(n.onDisk)
	for i := same; i < len(n.now); i += blockBytes - i%blockBytes {
		nuls := bytes.Clone(n.now)
		clear(nuls[i:])
		all = append(all, n.now[:i], nuls)
	}
	return append(all, n.now)
}

// subsets returns the subsets of the pending namings: all if they are few, else the
// first ones and all but one.
func subsets(all [][]naming) (out [][][]naming) {
	if len(all) <= 4 {
		for bits := range 1 << len(all) {
			var some [][]naming
			for i, n := range all {
				if bits>>i&1 == 1 {
					some = append(some, n)
				}
			}
			out = append(out, some)
		}
		return out
	}
	for i := range len(all) + 1 {
		out = append(out, all[:i], slices.Concat(all[:i], all[min(i+1, len(all)):]))
	}
	return out
}

// A wreck is a tree that a power cut may leave: the content of each file by its path,
// nil for a directory.
type wreck map[string][]byte

// snapshot returns the tree of a directory as it is.
func snapshot(t testing.TB, root string) wreck {
	t.Helper()
	w := wreck{}
	check(t, filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || path == root {
			return err
		}
		rel := strings.TrimPrefix(path, root+"/")
		if w[rel] = nil; e.IsDir() {
			return nil
		}
		data, err := os.ReadFile(path)
		w[rel] = append([]byte{}, data...)
		return err
	}))
	return w
}

// withoutLocks is the tree as another boot finds it: nothing is known of its locks.
func (w wreck) withoutLocks() wreck {
	w = maps.Clone(w)
	maps.DeleteFunc(w, func(path string, _ []byte) bool { return strings.HasSuffix(path, ".lock") })
	return w
}

// wrecks yields everything that a power cut may leave: some of the names that were
// not synced, with one file in any state, and the others without what was not synced
// or with all of it.
func (m *machine) wrecks(yield func(wreck)) {
	for _, some := range subsets(m.pending) {
		nodes := map[string]*node{}
		gather(m.root, "", some, nodes)
		for _, rest := range []bool{false, true} {
			yield(wreckOf(nodes, rest, "", nil))
			for path, n := range nodes {
				if n.durable != nil || bytes.Equal(n.onDisk, n.now) {
					continue
				}
				for _, content := range n.contents() {
					yield(wreckOf(nodes, rest, path, content))
				}
			}
		}
	}
}

// gather adds what is below a directory on the disk, with some more namings.
func gather(dir *node, path string, some [][]naming, nodes map[string]*node) {
	names := maps.Clone(dir.durable)
	for _, namings := range some {
		for _, n := range namings {
			if n.in == dir {
				n.on(names)
			}
		}
	}
	for name, n := range names {
		nodes[path+name] = n
		if n.durable != nil {
			gather(n, path+name+"/", some, nodes)
		}
	}
}

func wreckOf(nodes map[string]*node, changed bool, one string, content []byte) wreck {
	w := wreck{}
	for path, n := range nodes {
		switch {
		case n.durable != nil:
			w[path] = nil
		case path == one:
			w[path] = append([]byte{}, content...)
		case changed:
			w[path] = append([]byte{}, n.now...)
		default:
			w[path] = append([]byte{}, n.onDisk...)
		}
	}
	return w
}

// build puts the wreck into a directory.
func (w wreck) build(t testing.TB, root string) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(w)) {
		if data := w[path]; data == nil {
			check(t, os.MkdirAll(filepath.Join(root, path), 0o700))
		} else {
			check(t, os.WriteFile(filepath.Join(root, path), data, 0o600))
		}
	}
}
