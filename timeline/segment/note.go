package segment

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/stamp"
)

// Whoever is new to a log has to know its newest segment. That the number behind the newest
// one that somebody knows is free proves nothing, where a segment was taken away. So a
// writer that has read the names says in the lock file what it found, and of which state
// of the directory; nobody has to read them again while the directory is in that state.

// newestNote is how a note begins that says which segment is the newest in a directory, and
// what that was like when it was looked at. The directory had every number up to that.
const newestNote = "newest "

// notedIn returns the number that a note gives for a directory in the state of words, and
// zero if it is none for that.
func notedIn(note, words string) uint64 {
	number, of, found := strings.Cut(strings.TrimPrefix(note, newestNote), " ")
	if !found || of != words {
		return 0
	}
	n, err := strconv.ParseUint(number, 10, 62)
	if err != nil {
		return 0
	}
	return n
}

// highest returns the highest number of a segment in dir, and ok if that is a plain file.
// It costs no reading of the names while they are as they were when one who held the
// record lock read them last.
func (l *Log) highest(held *lock.Record, dir *stamp.Dir) (n uint64, ok bool) {
	words, settled := l.disk.moment(dir)
	if n := notedIn(held.Note(), words); n > 0 {
		return n, true
	}
	n, ok = l.disk.highest(dir.File())
	var ls listing
	if !ok || !settled {
		return n, ok
	}
	if _, err := l.readNames(&ls); err == nil && ls.unbroken() {
		// Without it the next one reads the names.
		_ = held.SetNote(newestNote + strconv.FormatUint(n, 10) + " " + words)
	}
	return n, ok
}

// shortDir is how long a directory is at most, in bytes, whose names are read as quickly as
// a note, by one who does not have the lock file open.
const shortDir = 4 << 10

// noted returns the segments of a long directory if a note tells which they are, and nil if
// they have to be listed. It holds no lock: names that come while it looks come behind
// the state in which it finds the directory, and belong to a later moment.
func (l *Log) noted() []entry {
	info, err := os.Lstat(l.o.Dir)
	if err != nil || info.Size() <= l.short {
		return nil
	}
	dir, err := stamp.Open(l.o.Dir)
	if err != nil {
		return nil
	}
	defer dir.Close()
	note := lock.NoteOf(l.lockDir)
	words, _ := l.disk.moment(dir)
	n := notedIn(note, words)
	if n == 0 {
		return nil
	}
	segments := make([]entry, 0, n+1)
	if l.o.Legacy != "" {
		info, err := os.Lstat(l.o.Legacy)
		switch {
		case err == nil && info.Mode().IsRegular():
			segments = append(segments, entry{plain: true})
		case !errors.Is(err, os.ErrNotExist):
			return nil
		}
	}
	for i := range n {
		segments = append(segments, entry{n: i + 1})
	}
	return segments
}
