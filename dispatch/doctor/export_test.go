package doctor

import "context"

// Volume is what is said of a file system.
type Volume struct {
	Kind               string
	Remote, Memory     bool
	Free, Bytes        uint64
	FreeInodes, Inodes uint64
}

// OfVolume returns the findings about a file system.
func OfVolume(v Volume) (all []Finding) {
	e := collecting(&all)
	of := volume{kind: v.Kind, remote: v.Remote, memory: v.Memory, free: v.Free, bytes: v.Bytes, freeInodes: v.FreeInodes, inodes: v.Inodes}
	e.kind(of)
	e.space(of, "/x")
	return all
}

func collecting(all *[]Finding) *examination {
	return &examination{ctx: context.Background(), yield: func(f Finding) bool {
		*all = append(*all, f)
		return true
	}}
}

// Quoted is how a path stands in a command.
func Quoted(path string) string { return quoted(path) }
