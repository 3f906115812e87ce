package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// store looks whether there is one.
func (e *examination) store() {
	dir := e.Store.Dir()
	_, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.absent = true
		e.note("store", "docket new ID", "%s: there is no store yet: the first session makes it", dir)
	case err != nil:
		e.absent = true
		e.problem("store", "ls -ld "+quoted(dir), "%s: %v", dir, err)
	default:
		e.ok("store", "%s", dir)
	}
}

// owner looks whose the store is.
func (e *examination) owner() {
	if e.absent {
		return
	}
	info, err := os.Stat(e.Store.Dir())
	if err != nil {
		return
	}
	name, own := ownerOf(info)
	switch {
	case name == "": // the system does not say
	case own:
		e.ok("owner", "it is yours (%s)", name)
	default:
		e.problem("owner", "sudo chown -R \"$(id -un)\" "+quoted(e.Store.Dir()),
			"it belongs to %s: work as that user, or make it yours", name)
	}
}

// permissions looks who else may get into the store, and into what is directly in it.
func (e *examination) permissions() {
	if e.absent || !hasPermissions {
		return
	}
	dir := e.Store.Dir()
	info, err := os.Stat(dir)
	if err != nil {
		return
	}
	perm := info.Mode().Perm()
	e.open = perm&0o007 != 0
	entries, unread := os.ReadDir(dir)
	switch do := "chmod 700 " + quoted(dir); {
	case e.open:
		e.problem("permissions", do, "%s has mode %04o: every user of this machine can get into it", dir, perm)
	case perm&0o070 != 0:
		e.note("permissions", do, "%s has mode %04o: its group can get into it, which is well if it is meant", dir, perm)
	case perm != 0o700:
		e.problem("permissions", do, "%s has mode %04o: you cannot use all of it", dir, perm)
	case unread != nil:
		e.note("permissions", "", "not known: what is in it cannot be read")
	case !isOwn(info):
		e.note("permissions", "", "nobody but its owner, and who may do all, can get into it (mode 0700)")
	default:
		e.ok("permissions", "nobody else can get into it (mode 0700)")
	}
	if unread != nil {
		e.problem("permissions", "ls -la "+quoted(dir), "%v", unread)
	}
	for _, entry := range entries {
		e.inner(filepath.Join(dir, entry.Name()))
	}
}

// isOwn reports whether a file is the caller's, as far as the system says.
func isOwn(info os.FileInfo) bool {
	name, own := ownerOf(info)
	return own || name == ""
}

// inner looks at the mode of something in the store. Where nobody can get into the
// store, it is worth a note only.
func (e *examination) inner(path string) {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return
	}
	level, mode := Note, "600"
	if info.IsDir() {
		mode = "700"
	}
	if e.open && info.Mode().Perm()&0o007 != 0 {
		level = Problem
	}
	f := Finding{Check: "permissions", Level: level, Do: "chmod " + mode + " " + quoted(path)}
	f.Text = fmt.Sprintf("%s has mode %04o, and should be yours alone", path, info.Mode().Perm())
	e.say(f)
}
