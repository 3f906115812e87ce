package queue

import (
	"os"
	"time"
)

// Paths of the files, for tests that damage them.
const (
	ListFile  = listFile
	ClaimFile = claimFile
)

// The codec of a line, both ways of reading it.
var (
	Encode    = encode
	DecodeOwn = decodeOwn
	DecodeAny = decodeAny
)

// Known returns e without the members of other writers.
func Known(e Entry) Entry {
	e.extra = nil
	return e
}

// SetCompactAt lets small files be compacted.
func (q *Queue) SetCompactAt(bytes int64) { q.compactAt = bytes }

// SetSpareAt bounds the file that is kept for the next list.
func (q *Queue) SetSpareAt(bytes int64) { q.spareAt = bytes }

// SetReadBytes lets a small file be read in many parts.
func (q *Queue) SetReadBytes(n int) { q.readBytes = n }

// SetPatience bounds how long List waits for a live writer.
func (q *Queue) SetPatience(d time.Duration) { q.patience = d }

// SetWriteAt replaces what writes to the files.
func (q *Queue) SetWriteAt(w func(f *os.File, p []byte, at int64) (int, error)) {
	if w == nil {
		w = (*os.File).WriteAt
	}
	q.disk.writeAt = w
}

// SetTrouble lets calls of the disk other than writes fail.
func (q *Queue) SetTrouble(trouble func(call, path string) error) {
	if trouble == nil {
		trouble = realDisk.trouble
	}
	q.disk.trouble = trouble
}

// KnownCount is how many entries the handle knows to be owed without counting the
// file, or -1.
func (q *Queue) KnownCount() int { return q.known.count }

// NoteText is what pending.head says of the attempts at a message.
func NoteText(mid string, attempts int, claimed, last *time.Time, reason string) (string, error) {
	n := noteOf(mid)
	n.Attempts, n.Claimed, n.LastAttempt, n.LastError = attempts, claimed, last, reason
	text, err := n.text(nil)
	return string(text), err
}
