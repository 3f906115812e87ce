package segment_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/segment"
)

// A schema for the tests: kind "p" is public, any other private. Facts are the
// number of lines and the id of the last one that has one.
type testSchema struct{}

type testLine struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	Key  string `json:"key"`
}

func (testSchema) Classify(line []byte) segment.Class {
	var v testLine
	if !utf8.Valid(line) || json.Unmarshal(line, &v) != nil || v.Kind == "" {
		return segment.Unreadable
	}
	if v.Kind == "p" {
		return segment.Public
	}
	return segment.Private
}

func (testSchema) Key(line []byte) ([]byte, bool) {
	var v testLine
	if json.Unmarshal(line, &v) != nil || v.Key == "" {
		return nil, false
	}
	sum := sha256.Sum256([]byte(v.Key))
	return sum[:], true
}

type testFacts struct {
	Lines int    `json:"lines"`
	Last  string `json:"last"`
}

func (testSchema) Fold(facts json.RawMessage) segment.Fold {
	f := &testFold{}
	_ = json.Unmarshal(facts, &f.testFacts)
	return f
}

type testFold struct{ testFacts }

func (f *testFold) Add(line segment.Line) {
	var v testLine
	_ = json.Unmarshal(line.Bytes, &v)
	f.Lines++
	if v.ID != "" {
		f.Last = v.ID
	}
}

func (f *testFold) Facts() json.RawMessage {
	out, _ := json.Marshal(f.testFacts)
	return out
}

// A fixture is one session directory with a log in it.
type fixture struct {
	dir   string
	opts  segment.Options
	locks *lock.Dir
	log   *segment.Log
	fast  bool // syncs are left out: the test is about something else
}

type tb interface {
	Helper()
	Fatalf(format string, args ...any)
}

func newFixture(t tb, dir string, o segment.Options) *fixture {
	t.Helper()
	o.Dir, o.Legacy = filepath.Join(dir, "timeline"), filepath.Join(dir, "timeline.ndjson")
	o.Schema = testSchema{}
	if o.Now == nil {
		o.Now = func() time.Time { return time.UnixMilli(1700000000123) }
	}
	f := &fixture{dir: dir, opts: o}
	locks, err := lock.Open(dir, lock.Options{})
	must(t, err)
	f.locks = locks
	f.log = f.handle(t)
	return f
}

// handle returns a further handle on the log.
func (f *fixture) handle(t tb) *segment.Log {
	t.Helper()
	log, err := segment.Open(f.dir, f.opts)
	must(t, err)
	if f.fast {
		log.SetDisk(segment.Disk{
			DataSync: func(*os.File) error { return nil },
			SyncDir:  func(string) error { return nil },
		})
	}
	return log
}

// speedUp leaves out the syncs from now on.
func (f *fixture) speedUp(t tb) {
	f.fast = true
	f.log = f.handle(t)
}

func (f *fixture) close() {
	f.log.Close()
	f.locks.Close()
}

func must(t tb, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

// tryWrite writes under the record lock.
func (f *fixture) tryWrite(lines ...string) (segment.Written, error) {
	held, err := f.locks.Record(context.Background())
	if err != nil {
		return segment.Written{}, err
	}
	defer held.Release()
	raw := make([][]byte, len(lines))
	for i, line := range lines {
		raw[i] = []byte(line)
	}
	return f.log.Write(held, raw...)
}

func (f *fixture) write(t tb, lines ...string) segment.Written {
	t.Helper()
	w, err := f.tryWrite(lines...)
	must(t, err)
	return w
}

func public(id string) string  { return fmt.Sprintf(`{"kind":"p","id":%q}`, id) }
func private(id string) string { return fmt.Sprintf(`{"kind":"x","id":%q}`, id) }

// An item is what a test compares of a line.
type item struct {
	id     string
	public bool
	seq    uint64
}

func itemOf(line segment.Line) (it item, ok bool) {
	var v testLine
	if line.Header || line.Class == segment.Unreadable || json.Unmarshal(line.Bytes, &v) != nil {
		return item{}, false
	}
	return item{v.ID, line.Class == segment.Public, line.Seq}, true
}

// drain reads a reader to the end: the items, and the damaged lines beside them.
func drain(r *segment.Reader) (items []item, bad []segment.Line, err error) {
	for {
		line, err := r.Next(context.Background())
		if err == io.EOF {
			return items, bad, nil
		}
		if err != nil {
			return items, bad, err
		}
		if line.Class == segment.Unreadable {
			line.Bytes = append([]byte(nil), line.Bytes...)
			bad = append(bad, line)
		}
		if it, ok := itemOf(line); ok {
			items = append(items, it)
		}
	}
}

func readFrom(t tb, log *segment.Log, from uint64) (items []item, bad []segment.Line) {
	t.Helper()
	r, err := log.Reader(context.Background(), from)
	must(t, err)
	defer r.Close()
	items, bad, err = drain(r)
	must(t, err)
	return items, bad
}

func readBack(t tb, log *segment.Log) (items []item, bad []segment.Line) {
	t.Helper()
	v, err := log.View(context.Background())
	must(t, err)
	for line, err := range v.Backward(context.Background()) {
		must(t, err)
		if line.Class == segment.Unreadable {
			bad = append(bad, line)
		}
		if it, ok := itemOf(line); ok {
			items = append([]item{it}, items...)
		}
	}
	return items, bad
}

func sameItems(t tb, what string, got, want []item) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d lines, want %d\ngot  %v\nwant %v", what, len(got), len(want), got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("%s: line %d: got %v, want %v", what, i, got[i], want[i])
		}
	}
}

func segmentPath(f *fixture, n int) string {
	return filepath.Join(f.dir, "timeline", fmt.Sprintf("%012d.ndjson", n))
}

func fileBytes(t tb, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}

func isNotExist(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, os.ErrNotExist)
}

var _ tb = (*testing.T)(nil)
