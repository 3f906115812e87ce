package fleet

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// At the start of a follower the end of each log is needed, of ten thousand in a
// tenth of a second. Package timeline finds it for any log, by listing and reading
// what it takes. The glance knows one case only, that of a log in one segment whose
// first and last line are as docket writes them, and leaves every other to timeline.

const (
	segmentsDir   = "timeline"
	segmentSuffix = ".ndjson"
	sealedSuffix  = ".zst"

	glanceBytes = 4 << 10
)

func segmentName(n uint64) string { return fmt.Sprintf("%012d%s", n, segmentSuffix) }

func segmentPath(segments string, n uint64) string {
	return segments + string(filepath.Separator) + segmentName(n)
}

var (
	firstSegment  = segmentName(1)
	secondSegment = []string{segmentName(2), segmentName(2) + sealedSuffix}
)

// A sight is what one stat shows of the newest segment of a log. While it stays the
// same, and there is no segment behind it, the log has not grown. For a log without a
// plain segment it shows when the session directory was last changed.
type sight struct {
	segment uint64 // zero: there is none
	size    int64
	changed int64
}

// A birth tells a session directory from a later one at the same path.
type birth struct {
	file      uint64
	sec, nano int64
}

// ends is how a file begins and how it ends.
type ends struct {
	size, changed int64
	head, tail    []byte
}

// A glimpse is what is known of a log at one moment.
type glimpse struct {
	seen  sight
	born  birth // only of an empty log
	epoch segment.Epoch
	end   uint64
}

// A glancer has the memory for glances. It is used by one goroutine at a time.
type glancer struct{ head, tail [glanceBytes]byte }

// glance returns what is known of the log in a session directory, and false if it
// takes more than a glance.
func (g *glancer) glance(dir string) (glimpse, bool) {
	segments := dir + string(filepath.Separator) + segmentsDir
	e, alone, err := readEnds(segments, firstSegment, secondSegment, g.head[:], g.tail[:])
	if errors.Is(err, os.ErrNotExist) {
		return glanceEmpty(dir, segments)
	}
	if err != nil || !alone {
		return glimpse{}, false
	}
	line, after, ok := bytes.Cut(e.head, []byte{'\n'})
	if !ok {
		return glimpse{}, false
	}
	found := glimpse{seen: sight{1, e.size, e.changed}}
	if found.epoch, ok = headerEpoch(line); !ok {
		return glimpse{}, false
	}
	if len(after) == 0 && int64(len(e.head)) == e.size {
		return found, true // nothing but the header of a first segment
	}
	found.end, ok = endAfter(e.tail)
	return found, ok
}

// glanceEmpty is glance for a session that has no log.
func glanceEmpty(dir, segments string) (glimpse, bool) {
	born, changed, err := birthOf(dir)
	if err != nil || exists(segments) {
		return glimpse{}, false
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segmentSuffix) {
			return glimpse{}, false
		}
	}
	return glimpse{seen: sight{changed: changed}, born: born}, err == nil
}

// headerEpoch returns the epoch in the header of a first segment.
func headerEpoch(line []byte) (e segment.Epoch, ok bool) {
	const kind, field = `,"kind":"segment","version":1,"epoch":"`, `","first":0,`
	_, rest, found := bytes.Cut(line[:min(len(line), 256)], []byte(kind))
	if !found || len(rest) < 2*len(e) || !bytes.HasPrefix(rest[2*len(e):], []byte(field)) {
		return e, false
	}
	_, err := hex.Decode(e[:], rest[:2*len(e)])
	return e, err == nil && e != segment.Epoch{}
}

// endAfter returns the sequence behind the last line of tail, the last bytes of a
// segment.
func endAfter(tail []byte) (uint64, bool) {
	line, whole := bytes.CutSuffix(tail, []byte{'\n'})
	start := bytes.LastIndexByte(line, '\n')
	if !whole || start < 0 {
		return 0, false
	}
	line = line[start+1:]
	const crcField, crcEnd, seqField = `,"crc":"`, `"`, `,"seq":`
	at := bytes.LastIndex(line, []byte(crcField))
	if at < 0 || len(line) < at+len(crcField)+8+len(crcEnd+seqField+"0}") {
		return 0, false
	}
	sum, rest := line[at+len(crcField):][:8], line[at+len(crcField)+8+len(crcEnd):]
	crc := crc32.Update(crc32.Checksum(line[:at], cursorTable), cursorTable, rest)
	if string(sum) != fmt.Sprintf("%08x", crc) || !bytes.HasPrefix(rest, []byte(seqField)) {
		return 0, false
	}
	seq, err := strconv.ParseUint(string(bytes.TrimSuffix(rest[len(seqField):], []byte{'}'})), 10, 62)
	width, known := publicWidth(line)
	return seq + width, err == nil && known
}

// publicWidth returns by how much a line moves the sequence, by its kind.
func publicWidth(line []byte) (uint64, bool) {
	const start = `{"ts":"2006-01-02T15:04:05.000Z"`
	kind := line[min(len(line), len(start)):]
	switch {
	case bytes.HasPrefix(kind, []byte(`,"kind":"status",`)), bytes.HasPrefix(kind, []byte(`,"kind":"sent",`)):
		return 1, true
	case bytes.HasPrefix(kind, []byte(`,"kind":"dispatch-settled",`)), bytes.HasPrefix(kind, []byte(`,"kind":"dispatch-revoked",`)):
		return 0, true
	}
	return 0, false
}

// sightOf looks for the newest plain segment of the log in a session directory, from
// segment n on.
func sightOf(dir string, n uint64) (sight, error) {
	segments := filepath.Join(dir, segmentsDir)
	for range 3 {
		for n > 0 && exists(segmentPath(segments, n+1)) {
			n++
		}
		if info, err := os.Lstat(segmentPath(segments, n)); n > 0 && err == nil {
			return sight{n, info.Size(), info.ModTime().UnixNano()}, nil
		}
		if n = newestIn(segments); n == 0 {
			break
		}
	}
	_, changed, err := birthOf(dir)
	return sight{changed: changed}, err
}

// newestIn lists a directory of segments.
func newestIn(segments string) (newest uint64) {
	entries, _ := os.ReadDir(segments) // who reads the log says what is wrong
	for _, e := range entries {
		name, plain := strings.CutSuffix(e.Name(), segmentSuffix)
		if n, err := strconv.ParseUint(name, 10, 62); plain && err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// inspect is glance for any log.
func (f *follower) inspect(ctx context.Context, id string) (g glimpse, err error) {
	dir := f.dirOf(id)
	born, _, err := birthOf(dir)
	if err != nil {
		return g, fmt.Errorf("session %s: %w", id, err)
	}
	if g.seen, err = sightOf(dir, 0); err != nil {
		return g, fmt.Errorf("session %s: %w", id, err)
	}
	s, err := f.store.Open(id)
	if err != nil {
		return g, err
	}
	end, err := s.Timeline().End(ctx)
	if err = errors.Join(err, s.Release()); err != nil {
		return g, err
	}
	g.epoch, g.end = epochOf(end), end.Seq()
	if g.epoch == (segment.Epoch{}) {
		g.born = born
	}
	return g, nil
}

// epochOf returns the epoch of a timeline's cursor, which stands in its text behind
// one byte.
func epochOf(c timeline.Cursor) (e segment.Epoch) {
	raw, err := base64.RawURLEncoding.DecodeString(c.String())
	if err == nil && len(raw) > len(e) {
		copy(e[:], raw[1:])
	}
	return e
}
