package timeline

import (
	"os"
	"path/filepath"

	"github.com/docket-go/docket/timeline/segment"
)

// SegmentsDir returns the directory that holds the segments of the timeline in a
// session directory. It is there once something was appended; whoever waits for that
// watches it.
func SegmentsDir(session string) string {
	return session + string(filepath.Separator) + segmentsDir
}

// A Looker finds the ends of many timelines cheaply, where they are as this package
// writes them. It has the memory for that, and is used by one goroutine at a time.
type Looker struct{ segments segment.Looker }

// Below makes looks at the sessions in a directory cheaper, until Close. The directory is
// kept open.
func (l *Looker) Below(dir string) { l.segments.Below(dir) }

// Close gives back what Below uses.
func (l *Looker) Close() { l.segments.Close() }

// Look returns what is known of the timeline in a session directory, and true if a
// look is enough for that; otherwise ask [Log.End]. A timeline in which there is
// nothing yet is the zero Look. Nothing is opened for longer than the call.
func (l *Looker) Look(session string) (segment.Look, bool) {
	dir := SegmentsDir(session)
	look, ok, none := l.segments.Look(dir, schema{})
	if ok || !none {
		return look, ok
	}
	return segment.Look{}, !isThere(dir) && !isThere(filepath.Join(session, legacyFile)) && isThere(session)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
