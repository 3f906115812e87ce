package segment

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"github.com/docket-go/docket/lock/stamp"
	"os"
	"reflect"
)

// A Disk replaces the calls that are not nil.
type Disk struct {
	Create   func(path string, flags int) (*os.File, error)
	Mkdir    func(path string) error
	Write    func(f *os.File, p []byte) (int, error)
	WriteAt  func(f *os.File, p []byte, off int64) (int, error)
	Truncate func(f *os.File, size int64) error
	DataSync func(f *os.File) error
	WriteOut func(f *os.File, from, to int64) error
	SyncDir  func(path string) error
	Rename   func(from, to string) error
	Remove   func(path string) error
	ReadDir  func(d *os.File) ([]os.DirEntry, error)
	Highest  func(d *os.File) (n uint64, ok bool)
	Moment   func(d *stamp.Dir) (words string, settled bool)
}

// RealDisk returns what a log uses by itself.
func RealDisk() Disk {
	return Disk{
		realDisk.create, realDisk.mkdir, realDisk.write, realDisk.writeAt, realDisk.truncate,
		realDisk.dataSync, realDisk.writeOut, realDisk.syncDir, realDisk.rename, realDisk.remove, realDisk.readDir, realDisk.highest, realDisk.moment,
	}
}

// DataSync is the real one.
var DataSync = dataSync

func (l *Log) SetDisk(d Disk) {
	l.disk = disk{
		or(d.Create, realDisk.create), or(d.Mkdir, realDisk.mkdir), or(d.Write, realDisk.write), or(d.WriteAt, realDisk.writeAt),
		or(d.Truncate, realDisk.truncate), or(d.DataSync, realDisk.dataSync), or(d.WriteOut, realDisk.writeOut), or(d.SyncDir, realDisk.syncDir),
		or(d.Rename, realDisk.rename), or(d.Remove, realDisk.remove), or(d.ReadDir, realDisk.readDir),
		or(d.Highest, realDisk.highest), or(d.Moment, realDisk.moment),
	}
}

// SetShortDir says up to which size a directory is listed at once.
func (l *Log) SetShortDir(bytes int64) { l.short = bytes }

// or returns the function f, or another if it is nil.
func or[F any](f, other F) F {
	if reflect.ValueOf(f).IsNil() {
		return other
	}
	return f
}

// NewHeader returns a header line with the given facts and filter.
func NewHeader(facts []byte, keys string) []byte {
	h := header{Time: "2026-07-16T00:00:00.000Z", Version: version, Epoch: Epoch{1}, First: 7, Prev: "ab", Facts: facts, Keys: []byte(keys), HasKeys: keys != ""}
	line := h.append(nil)
	return line[:len(line)-1]
}

// RewriteHeader parses a header line and writes it again.
func RewriteHeader(line []byte) (again []byte, err error) {
	h, err := parseHeader(line)
	if err != nil {
		return nil, err
	}
	again = h.append(nil)
	return again[:len(again)-1], nil
}

// IndexEnds returns where the frames end that either index of a file lists.
func IndexEnds(data []byte) (ends []int64) {
	r, size := bytes.NewReader(data), int64(len(data))
	_, frames, _ := readSummary(r, size)
	table, _ := readTable(r, size)
	for _, f := range append(frames, table...) {
		ends = append(ends, f.start+f.bytes)
	}
	return ends
}

// DecodeSummaries decodes a summary in both ways, and prints what either reads.
func DecodeSummaries(text []byte) (quick, slow string) {
	if s, ok := decodeSummary(text); ok {
		quick = fmt.Sprint(*s)
	}
	var s summary
	if json.Unmarshal(text, &s) == nil {
		slow = fmt.Sprint(s)
	}
	return quick, slow
}

// LastNewline returns the place of the last newline in p, or -1.
func LastNewline(p []byte) int { return lineBreakBefore(p) }

// AppendLine appends a line as Write stores it.
var AppendLine = appendLine

// RunAhead returns how many bytes of p are lines that fit their checksums all at once,
// and their sequences.
func RunAhead(p []byte) (bytes int, seqs []uint64) {
	r := run{want: mostRunBytes}
	r.ahead(p, 0)
	for _, c := range r.cuts {
		bytes, seqs = c.end, append(seqs, c.seq)
	}
	return bytes, seqs
}

// SingleLines reads a segment, each line by itself.
func (l *Log) SingleLines(n uint64) (lines []Line, err error) {
	src, err := l.open(n)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	end, err := src.committed(0)
	if err != nil {
		return nil, err
	}
	_, err = l.scan(src, 0, end, 0, func(line *Line) bool {
		lines = append(lines, line.Clone())
		return true
	})
	return lines, err
}

// Single makes the reader take each line by itself.
func (r *Reader) Single() { r.scan.single = true }

// Clone returns the line with bytes of its own.
func (l Line) Clone() Line {
	l.Bytes = bytes.Clone(l.Bytes)
	return l
}

// Facts is what the newest header in a view says about all lines before it.
type Facts struct {
	Facts   json.RawMessage // nil when there is no header, or it holds none
	Segment uint64          // fold the lines of this segment and later ones on top
}

// Facts returns the facts of the newest whole header. Without any header the facts
// are nil and Segment is zero: the fold starts with the log.
func (v *View) Facts(ctx context.Context) (Facts, error) {
	if err := ctx.Err(); err != nil {
		return Facts{}, err
	}
	h, i, err := v.log.newestHeader(v.segments)
	if err != nil || h == nil {
		return Facts{}, err
	}
	return Facts{Facts: h.Facts, Segment: v.segments[i].n}, nil
}
