package segment_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock/stamp"
	"github.com/docket-go/docket/timeline/segment"
)

// A reader of names counts how often the names of segments are read, and leaves notes
// at once.
type namesRead struct{ times int }

// handle returns a new one.
func (r *namesRead) handle(t *testing.T, f *fixture) *segment.Log {
	t.Helper()
	log, real := f.handle(t), segment.RealDisk()
	log.SetDisk(segment.Disk{
		DataSync: func(*os.File) error { return nil },
		SyncDir:  func(string) error { return nil },
		ReadDir: func(d *os.File) ([]os.DirEntry, error) {
			r.times++
			return real.ReadDir(d)
		},
		Highest: func(d *os.File) (uint64, bool) {
			r.times++
			return real.Highest(d)
		},
		Moment: func(d *stamp.Dir) (words string, settled bool) {
			words, _ = real.Moment(d)
			return words, words != ""
		},
	})
	return log
}

// write appends a line with a handle of its own.
func (r *namesRead) write(t *testing.T, f *fixture, id string) {
	t.Helper()
	o := *f
	o.log = r.handle(t, f)
	defer o.log.Close()
	o.write(t, public(id))
}

// read reads the log with a new handle, to which the directory is a long one or a short one.
func (r *namesRead) read(t *testing.T, f *fixture, short int64) (items []item, bad []string) {
	t.Helper()
	log := r.handle(t, f)
	log.SetShortDir(short)
	v, err := log.View(t.Context())
	must(t, err)
	for line, err := range v.Backward(t.Context()) {
		must(t, err)
		if it, ok := itemOf(line); ok {
			items = append(items, it)
		} else if !line.Header {
			bad = append(bad, fmt.Sprint(line.Err))
		}
	}
	return items, bad
}

// sees fails unless both find the same.
func (r *namesRead) sees(t *testing.T, f *fixture) {
	t.Helper()
	items, bad := r.read(t, f, 0)
	listed, listedBad := r.read(t, f, 1<<40)
	if fmt.Sprint(items, bad) != fmt.Sprint(listed, listedBad) {
		t.Fatalf("got %v, %v by a note, %v, %v by a listing", items, bad, listed, listedBad)
	}
}

// tellsApart skips the test where two changes of a directory that follow each other at
// once are not told apart: there it takes a while until a note is left.
func tellsApart(t *testing.T) {
	dir := t.TempDir()
	d, err := stamp.Open(dir)
	must(t, err)
	defer d.Close()
	seen := map[string]bool{}
	for i := range 20 {
		must(t, os.WriteFile(fmt.Sprint(dir, "/", i), nil, 0o600))
		words, _ := d.Moment()
		if words == "" || seen[words] {
			t.Skip("the file system does not tell changes apart that follow at once")
		}
		seen[words] = true
	}
}

// A handle that is new finds its segment without reading the names, as long as they are
// those that another one has read.
func TestNewHandleReadsNoNames(t *testing.T) {
	tellsApart(t)
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 500})
	defer f.close()
	var names namesRead
	for i := range 20 {
		names.write(t, f, fmt.Sprint("first ", i))
	}
	// Who leaves a note has read them twice: to find the newest, and to see that none is
	// missing.
	wantReads := func(want int) {
		t.Helper()
		names.times = 0
		names.write(t, f, "x")
		if names.times != want {
			t.Fatalf("got the names read %d times, want %d", names.times, want)
		}
	}
	f.opts.SegmentBytes = -1
	names.write(t, f, "whose note counts")
	wantReads(0)
	must(t, os.WriteFile(f.opts.Dir+"/of somebody", nil, 0o600))
	wantReads(2)
	wantReads(0)
	must(t, os.Remove(f.opts.Dir+"/of somebody"))
	wantReads(2)
	wantReads(0)
	must(t, f.locks.Close())
	must(t, os.Truncate(f.dir+"/record.lock", 200))
	wantReads(2)
	wantReads(0)
}

// So does one that reads, where there are many.
func TestNewReaderReadsNoNames(t *testing.T) {
	tellsApart(t)
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 500})
	defer f.close()
	var names namesRead
	for i := range 200 {
		names.write(t, f, fmt.Sprint("first ", i))
	}
	for _, tt := range []struct {
		short int64
		times int
	}{{0, 0}, {1 << 40, 1}} {
		names.times = 0
		if items, bad := names.read(t, f, tt.short); len(items) != 200 || len(bad) > 0 || names.times != tt.times {
			t.Errorf("got %d lines, damage %v, names read %d times, want 200 lines and %d", len(items), bad, names.times, tt.times)
		}
	}
}

// Whatever others do to the files, and whatever becomes of the note, the line of a new
// handle is the last one of the newest segment, and a new reader misses none.
func TestNoteMisleadsNobody(t *testing.T) {
	tellsApart(t)
	for seed := range uint64(8) {
		f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 500})
		m := meddler{t: t, f: f, Rand: rand.New(rand.NewPCG(seed, 2))}
		for i := range 40 {
			id := fmt.Sprintf("%d of %d", i, seed)
			m.names.write(t, f, id)
			if newest := segmentPath(f, int(m.newest())); !strings.Contains(lastLine(fileBytes(t, newest)), id) {
				t.Fatalf("after %v: %q is not at the end of %s", m.did, id, newest)
			}
			m.names.sees(t, f)
			m.meddle()
			m.names.sees(t, f)
		}
		f.close()
	}
}

func lastLine(data []byte) string {
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	return lines[len(lines)-1]
}

// A meddler changes the files of a log without asking.
type meddler struct {
	t *testing.T
	f *fixture
	*rand.Rand
	names namesRead
	notes [][]byte // lock files of before
	did   []string
}

func (m *meddler) newest() uint64 {
	m.t.Helper()
	newest := uint64(0)
	found, err := os.ReadDir(m.f.opts.Dir)
	must(m.t, err)
	for _, e := range found {
		var n uint64
		if _, err := fmt.Sscanf(e.Name(), "%d.ndjson", &n); err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}

func (m *meddler) meddle() {
	dir, lockFile := m.f.opts.Dir, m.f.dir+"/record.lock"
	note := fileBytes(m.t, lockFile)
	m.notes = append(m.notes, note)
	var err error
	what := []string{"nothing", "removed", "added", "left a gap", "an old one", "moved", "copied", "sealed", "old note", "torn note", "cut note"}[m.IntN(11)]
	m.did = append(m.did, what)
	switch n := m.newest(); what {
	case "removed":
		if n > 1 {
			err = os.Remove(segmentPath(m.f, int(n)))
		}
	case "added":
		err = os.WriteFile(segmentPath(m.f, int(n)+1), []byte(public("foreign")+"\n"), 0o600)
	case "left a gap":
		err = os.WriteFile(segmentPath(m.f, int(n)+3), []byte(public("foreign")+"\n"), 0o600)
	case "an old one":
		err = os.WriteFile(m.f.opts.Legacy, []byte(public("of before")+"\n"), 0o600)
	case "moved":
		err = errors.Join(os.Rename(dir, dir+".away"), os.Rename(dir+".away", dir))
	case "copied":
		away := fmt.Sprint(dir, ".", len(m.did))
		err = errors.Join(os.Rename(dir, away), os.CopyFS(dir, os.DirFS(away)))
	case "sealed":
		_, err = m.f.handle(m.t).Seal(m.t.Context(), m.f.locks)
	case "old note":
		err = os.WriteFile(lockFile, m.notes[m.IntN(len(m.notes))], 0o600)
	case "torn note":
		if len(note) == 256 {
			note[128+m.IntN(128)] ^= 1 << m.IntN(8)
		}
		err = os.WriteFile(lockFile, note, 0o600)
	case "cut note":
		err = os.Truncate(lockFile, int64(64+m.IntN(192)))
	}
	must(m.t, err)
}
