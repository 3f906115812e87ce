//go:build !unix

package doctor

import "io/fs"

const hasPermissions = false

// ownerOf does not know here.
func ownerOf(fs.FileInfo) (name string, own bool) { return "", false }

// A fileID tells nothing here.
type fileID struct{}

func idOf(fs.FileInfo) fileID { return fileID{} }
