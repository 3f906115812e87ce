package segment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// Whoever follows ten thousand logs needs the end of each of them in a tenth of a
// second. A [View] finds it for any log, by listing and reading what it takes. A look
// knows one case only, that of a log in one plain segment whose first and last line
// are as the engine writes them, and leaves every other to the View.

// lookBytes is how much of a segment's beginning and of its end a look reads.
const lookBytes = 4 << 10

// A Sight is what one stat shows of the newest plain segment of a log. While that
// stays the same, and no segment is behind it, the log has not grown. The zero Sight
// is that of a log without a plain segment.
type Sight struct {
	Segment     uint64
	SizeBytes   int64
	ChangedNano int64 // since 1970
}

// SightOf returns the sight of the log whose segments are in the directory dir. It
// begins with segment from, which costs no listing if that is there; zero means that
// nothing is known. A log that cannot be looked at is the zero Sight: who reads it
// says what is wrong.
func SightOf(dir string, from uint64) Sight {
	n := from
	for range 3 { // a segment that was there may be sealed meanwhile
		for n > 0 && isThere(plainIn(dir, n+1)) {
			n++
		}
		if info, err := os.Lstat(plainIn(dir, n)); n > 0 && err == nil {
			return Sight{n, info.Size(), info.ModTime().UnixNano()}
		}
		if n = newestPlain(dir); n == 0 {
			break
		}
	}
	return Sight{}
}

// Changed reports, with one stat, whether the segment is not as it was seen.
func (s Sight) Changed(dir string) bool {
	info, err := os.Lstat(plainIn(dir, s.Segment))
	return err != nil || info.Size() != s.SizeBytes || info.ModTime().UnixNano() != s.ChangedNano
}

// Passed reports, with one stat, whether there is a plain segment behind the one that
// was seen.
func (s Sight) Passed(dir string) bool { return isThere(plainIn(dir, s.Segment+1)) }

// A Look is what is known of a log at one moment.
type Look struct {
	Sight
	Epoch Epoch
	End   uint64 // the sequence of its next public line
}

// A Looker has the memory for looks. The zero Looker is ready to use. It is used by one
// goroutine at a time.
type Looker struct {
	head, tail [lookBytes]byte
	root       *os.File // see Below
	below      string
}

// Below makes looks at logs below the directory root cheaper, until Close: the system
// begins its way to them there. Where that is not possible nothing changes.
func (l *Looker) Below(root string) {
	l.Close()
	f, err := os.Open(root)
	if err == nil {
		l.root, l.below = f, root+string(filepath.Separator)
	}
}

// Close gives back what Below uses.
func (l *Looker) Close() {
	if l.root != nil {
		l.root.Close()
	}
	l.root, l.below = nil, ""
}

// ends is how a file begins and how it ends.
type ends struct {
	size, changed int64
	head, tail    []byte
}

var (
	firstSegment  = plainName(1)
	secondSegment = []string{plainName(2), sealedName(2)}
)

// Look returns what is known of the log whose segments are in the directory dir, and
// ok if a look is enough for that. None reports that there is no such directory, or
// no first segment in it. Otherwise it takes a [View].
//
// The answer is that of a View: the header's version and epoch are read where the
// engine writes them, and the last line counts only if it fits its checksum. It holds
// no lock and opens nothing for longer than the call.
func (l *Looker) Look(dir string, s Schema) (look Look, ok, none bool) {
	e, alone, err := l.readEnds(dir, firstSegment, secondSegment)
	if err != nil || !alone {
		return Look{}, false, errors.Is(err, os.ErrNotExist)
	}
	first, rest, whole := bytes.Cut(e.head, []byte{'\n'})
	if !whole {
		return Look{}, false, false
	}
	look.Sight = Sight{1, e.size, e.changed}
	if look.Epoch, ok = firstEpoch(first); !ok {
		return Look{}, false, false
	}
	if len(rest) == 0 && int64(len(e.head)) == e.size {
		return look, true, false // nothing but the header
	}
	look.End, ok = endBehind(e.tail, s)
	return look, ok, false
}

// firstEpoch returns the epoch in the header of a log's first segment.
func firstEpoch(line []byte) (Epoch, bool) {
	p := headerParser{rest: line[:min(len(line), headBytes)]}
	p.lit(`{"ts":"`)
	p.untilQuote()
	p.lit(`",` + headerKind + `,"version":`)
	known := p.number() == version
	if p.err != nil || !known || !bytes.Contains(p.rest, []byte(`,"first":0,`)) {
		return Epoch{}, false
	}
	e, ok := looseEpoch(line)
	return e, ok && e != Epoch{}
}

// endBehind returns the sequence behind the last line of tail, the last bytes of a
// segment.
func endBehind(tail []byte, s Schema) (uint64, bool) {
	line, whole := bytes.CutSuffix(tail, []byte{'\n'})
	start := bytes.LastIndexByte(line, '\n')
	if !whole || start < 0 {
		return 0, false
	}
	line = line[start+1:]
	seq, numbered := seqOf(line)
	if !numbered || sumOf(line) != rightSum { // a header has another sum
		return 0, false
	}
	classify := s.Classify
	if intact, ok := s.(IntactSchema); ok {
		classify = intact.ClassifyIntact
	}
	switch classify(line) {
	case Public:
		return seq + 1, true
	case Private:
		return seq, true
	}
	return 0, false
}

// newestPlain lists a directory of segments.
func newestPlain(dir string) (newest uint64) {
	entries, _ := os.ReadDir(dir) // who reads the log says what is wrong
	for _, e := range entries {
		if n, sealed := parseName(e.Name()); !sealed {
			newest = max(newest, n)
		}
	}
	return newest
}

func plainIn(dir string, n uint64) string {
	return dir + string(filepath.Separator) + plainName(n)
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
