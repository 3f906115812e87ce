package segment

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

const (
	defaultSegmentBytes = 4 << 20
	defaultMaxLineBytes = 64 << 20
)

// A Schema tells the engine what the lines of a log mean. Its methods are called
// from many goroutines at once, and must neither keep nor change the bytes they
// are given.
type Schema interface {
	// Classify must answer the same for the same bytes always, with or without the
	// seq field that the engine adds at the end. Bytes that are not a whole line
	// of this log are Unreadable; it must not panic on any bytes.
	Classify(line []byte) Class

	// Key must return the 32-byte digest by which [Log.FindKey] finds the line, and
	// false for a line without one.
	Key(line []byte) (digest []byte, ok bool)

	// Fold must return a fold that goes on from the given facts, which an earlier
	// fold returned; nil means from the start of the log.
	Fold(facts json.RawMessage) Fold
}

// An IntactSchema is a [Schema] that makes use of checksums: a line that fits its
// own is, byte for byte, one that [Log.Write] was once given, and need not be
// searched for damage again.
type IntactSchema interface {
	Schema

	// ClassifyIntact must answer what Classify does, for a line whose checksum fits.
	ClassifyIntact(line []byte) Class

	// KeyIntact must answer what Key does, for a line whose checksum fits.
	KeyIntact(line []byte) (digest []byte, ok bool)
}

// A Fold keeps what a derived read would otherwise scan the whole log for. The
// engine stores its result in the header of each segment.
type Fold interface {
	// Add takes the next line in log order. Headers and unreadable lines are left
	// out. The bytes are valid during the call only.
	Add(line Line)

	// Facts must return one JSON value without line breaks, of bounded size. It is
	// asked once, after the last Add.
	Facts() json.RawMessage
}

// Options configures a [Log]. Dir and Schema are needed; the rest is ready to
// use as zero.
type Options struct {
	// Dir is the directory of the numbered segments. It is made by the first Write.
	Dir string

	// Legacy is the path of a first segment that is read and never written. Empty
	// means that there is none; the file need not exist.
	Legacy string

	// SegmentBytes is the size at which the writer opens the next segment. Zero
	// means 4 MiB; a negative value means no bound.
	SegmentBytes int64

	// MaxLineBytes is the size of the largest line that Write accepts. Zero means
	// 64 MiB; a negative value means no bound.
	MaxLineBytes int64

	Schema Schema

	// Encoded says that whoever calls Write has encoded the lines itself, in a shape that
	// the schema knows: an [IntactSchema] then answers ClassifyIntact for them too, and
	// what is no line is found by nobody.
	Encoded bool

	// Buffered leaves the moment of the data sync to the system: Sync and SyncAll do
	// nothing. Lines then survive the death of the process, not of the machine.
	Buffered bool

	// Now is the clock for the time in headers. Nil means time.Now.
	Now func() time.Time
}

// A Log is a handle on one log. It is safe for concurrent use, and any number of
// handles in any number of processes may be open on the same log.
type Log struct {
	lockDir string
	o       Options
	disk    disk

	classifyIntact func(line []byte) Class // for lines whose checksum fits
	keyIntact      func(line []byte) (digest []byte, ok bool)
	classifyNew    func(line []byte) Class // for lines that are written

	writing sync.Mutex // guards tail and classes; the record lock already excludes other writers
	tail    tail
	classes []Class // of the lines that are being written
	commits commits
	memo    memo
	short   int64 // see shortDir
	recent  recentKeys
}

// Open returns a handle on the log of the session directory lockDir, whose record
// lock covers the writes. Nothing is read or made yet.
func Open(lockDir string, o Options) (*Log, error) {
	if o.Schema == nil || o.Dir == "" {
		return nil, errors.New("segment: Options needs Dir and Schema")
	}
	for _, path := range []*string{&lockDir, &o.Dir, &o.Legacy} {
		if *path == "" {
			continue
		}
		abs, err := filepath.Abs(*path)
		if err != nil {
			return nil, fmt.Errorf("segment: %s: %w", *path, err)
		}
		*path = abs
	}
	if o.SegmentBytes == 0 {
		o.SegmentBytes = defaultSegmentBytes
	}
	if o.MaxLineBytes == 0 {
		o.MaxLineBytes = defaultMaxLineBytes
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	l := &Log{lockDir: lockDir, o: o, disk: realDisk, short: shortDir, classifyIntact: o.Schema.Classify, keyIntact: o.Schema.Key}
	if s, ok := o.Schema.(IntactSchema); ok {
		l.classifyIntact, l.keyIntact = s.ClassifyIntact, s.KeyIntact
	}
	l.classifyNew = o.Schema.Classify
	if o.Encoded {
		l.classifyNew = l.classifyIntact
	}
	l.commits.init()
	return l, nil
}

// key returns the digest of a line that can be read, and false for one without a key.
func (l *Log) key(line *Line) (digest []byte, ok bool) {
	if line.Intact {
		return l.keyIntact(line.Bytes)
	}
	return l.o.Schema.Key(line.Bytes)
}

// Close gives back the descriptor of a handle that has written. The handle can be
// used again afterwards.
func (l *Log) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.tail.drop(&l.commits)
}
