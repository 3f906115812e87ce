package doctor

import "fmt"

// A volume is the file system that a directory is on.
type volume struct {
	kind               string // empty means that the system does not say
	remote             bool   // it is another machine's
	memory             bool   // it is gone when the machine stops
	free, bytes        uint64 // for the caller
	freeInodes, inodes uint64 // inodes is zero where there is no such number
}

// What is so little that writing is about to fail, and what is worth a note.
const (
	scarceBytes  = 16 << 20
	lowBytes     = 1 << 30
	scarceInodes = 256
	lowShare     = 20 // a twentieth
)

// volume looks at the file system of the store.
func (e *examination) volume() {
	if e.absent {
		return
	}
	dir := e.Store.Dir()
	v, err := volumeOf(dir)
	if err != nil {
		e.note("filesystem", "df "+quoted(dir), "it does not tell what it is: %v", err)
		return
	}
	e.kind(v)
	e.space(v, dir)
}

func (e *examination) kind(v volume) {
	switch elsewhere := "export DOCKET_HOME=/a/directory/on/a/local/disk"; {
	case v.kind == "":
	case v.remote:
		e.note("filesystem", elsewhere, "%s is a network file system: nobody is notified of what other machines write there, and locks are as good as its server; a local disk is better", v.kind)
	case v.memory:
		e.note("filesystem", elsewhere, "%s is in memory: what is stored there is gone when the machine stops", v.kind)
	default:
		e.ok("filesystem", "%s", v.kind)
	}
}

func (e *examination) space(v volume, dir string) {
	free := size(v.free) + " of " + size(v.bytes) + " free"
	inodes := ""
	if v.inodes > 0 {
		inodes = fmt.Sprintf("%d of %d inodes free", v.freeInodes, v.inodes)
	}
	switch scarce := v.inodes > 0 && v.freeInodes < scarceInodes; {
	case v.free < scarceBytes:
		e.problem("space", "df -h "+quoted(dir), "%s: sending is about to fail; docket seal --all compresses what is not written any more", free)
	case scarce:
		e.problem("space", "df -i "+quoted(dir), "%s: sending is about to fail", inodes)
	case v.free < lowBytes && v.free < v.bytes/lowShare:
		e.note("space", "docket seal --all", "%s", free)
	case v.inodes > 0 && v.freeInodes < v.inodes/lowShare:
		e.note("space", "df -i "+quoted(dir), "%s", inodes)
	case inodes != "":
		e.ok("space", "%s, %s", free, inodes)
	default:
		e.ok("space", "%s", free)
	}
}
