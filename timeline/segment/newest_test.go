package segment_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// A handle that believes the stamp of the directory sees at its next write whatever
// became of its segment: what another handle or a person does changes the stamp. It is long because
// its rows are in one table.
func TestHeldHandleSeesChanges(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, f *fixture)
		want   []string // before what the handle writes then
	}{
		{"nothing", func(*testing.T, *fixture) {}, []string{"a", "b", "c"}},
		{"a line behind", func(t *testing.T, f *fixture) { other(t, f, "d") }, []string{"a", "b", "c", "d"}},
		{"the next segment", func(t *testing.T, f *fixture) { other(t, f, "d", "e", "f", "g", "h", "i") }, []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}},
		{"the next segments, and it is sealed", func(t *testing.T, f *fixture) {
			other(t, f, "d", "e", "f", "g", "h", "i")
			_, err := f.handle(t).Seal(t.Context(), f.locks)
			must(t, err)
		}, []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}},
		{"it is replaced by a copy of before", func(t *testing.T, f *fixture) {
			path := segmentPath(f, 1)
			must(t, os.WriteFile(path+".backup", upToLine(fileBytes(t, path), 2), 0o600))
			must(t, os.Rename(path+".backup", path))
		}, []string{"a"}},
		{"it is moved away, and a copy is put in its place", func(t *testing.T, f *fixture) {
			path := segmentPath(f, 1)
			raw := fileBytes(t, path)
			must(t, os.Rename(path, path+".away"))
			must(t, os.WriteFile(path, raw, 0o600))
		}, []string{"a", "b", "c"}},
		{"it is moved away", func(t *testing.T, f *fixture) { must(t, os.Rename(segmentPath(f, 1), segmentPath(f, 1)+".away")) }, nil},
		{"its directory is moved away, and a copy is put in its place", func(t *testing.T, f *fixture) {
			raw := fileBytes(t, segmentPath(f, 1))
			must(t, os.Rename(f.opts.Dir, f.opts.Dir+".away"))
			must(t, os.Mkdir(f.opts.Dir, 0o700))
			must(t, os.WriteFile(segmentPath(f, 1), raw, 0o600))
		}, []string{"a", "b", "c"}},
		{"it is moved into a new directory, where the next one is", func(t *testing.T, f *fixture) {
			away := f.opts.Dir + ".away"
			must(t, os.Rename(f.opts.Dir, away))
			must(t, os.Mkdir(f.opts.Dir, 0o700))
			must(t, os.Rename(filepath.Join(away, filepath.Base(segmentPath(f, 1))), segmentPath(f, 1)))
			must(t, os.WriteFile(segmentPath(f, 2), []byte(public("d")+"\n"), 0o600))
		}, []string{"a", "b", "c", "d"}},
		{"it is removed", func(t *testing.T, f *fixture) { must(t, os.Remove(segmentPath(f, 1))) }, nil},
		{"another program put the next one there", func(t *testing.T, f *fixture) {
			must(t, os.WriteFile(segmentPath(f, 2), []byte(public("d")+"\n"), 0o600))
		}, []string{"a", "b", "c", "d"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 500})
			defer f.close()
			f.speedUp(t)
			for _, id := range []string{"a", "b", "c"} { // from the third on the stamp is believed
				f.write(t, public(id))
			}
			tt.change(t, f)
			f.write(t, public("mine"))
			var got []string
			items, bad := readFrom(t, f.handle(t), 0)
			for i, it := range items {
				if got = append(got, it.id); it.seq != uint64(i) {
					t.Errorf("got %v at place %d", it, i)
				}
			}
			if want := append(tt.want, "mine"); fmt.Sprint(got) != fmt.Sprint(want) || len(bad) > 0 {
				t.Errorf("got %v, damage %v, want %v", got, bad, want)
			}
		})
	}
}

// other writes with a handle of its own.
func other(t *testing.T, f *fixture, ids ...string) {
	o := *f
	o.log = f.handle(t)
	defer o.log.Close()
	for _, id := range ids {
		o.write(t, public(id))
	}
}

// upToLine cuts data behind its first lines.
func upToLine(data []byte, lines int) []byte {
	for i, b := range data {
		if b == '\n' {
			if lines--; lines == 0 {
				return data[:i+1]
			}
		}
	}
	return data
}

// One reading of the names tells the newest segment where there is nothing odd about
// them, and what it tells is right.
func TestHighest(t *testing.T) {
	real := segment.RealDisk().Highest
	for _, tt := range []struct {
		name  string
		files []string // a slash at the end makes a directory
		want  uint64   // zero: it is left to the listing
	}{
		{"nothing", nil, 0},
		{"one", []string{"000000000001.ndjson"}, 1},
		{"foreign names beside it", []string{"000000000001.ndjson", "1.ndjson", "000000000009.txt", "x", "0000000000004.ndjson", "-00000000005.ndjson"}, 1},
		{"sealed ones before", []string{"000000000001.ndjson.zst", "000000000002.ndjson.zst", "000000000003.ndjson"}, 3},
		{"a draft behind", []string{"000000000001.ndjson", "000000000002.ndjson.0011223344556677.tmp"}, 1},
		{"more than twelve digits", []string{"999999999999.ndjson", "1000000000000.ndjson"}, 1000000000000},
		{"both forms", []string{"000000000001.ndjson", "000000000001.ndjson.zst"}, 1},
		{"a sealed one behind", []string{"000000000001.ndjson", "000000000002.ndjson.zst"}, 0},
		{"a directory behind", []string{"000000000001.ndjson", "000000000002.ndjson/"}, 0},
		{"a directory before", []string{"000000000001.ndjson/", "000000000002.ndjson"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range tt.files {
				path := filepath.Join(dir, name)
				if name[len(name)-1] == '/' {
					must(t, os.Mkdir(path, 0o700))
					continue
				}
				must(t, os.WriteFile(path, nil, 0o600))
			}
			check(t, real, dir, tt.want)
		})
	}
	many := t.TempDir()
	for i := range 1000 { // more than one block of names
		must(t, os.WriteFile(filepath.Join(many, fmt.Sprintf("%012d.ndjson", i+1)), nil, 0o600))
	}
	check(t, real, many, 1000)
}

// check fails if highest says something else. Where the system has nothing of the kind,
// it says nothing.
func check(t *testing.T, highest func(*os.File) (uint64, bool), dir string, want uint64) {
	t.Helper()
	d, err := os.Open(dir)
	must(t, err)
	defer d.Close()
	if n, ok := highest(d); ok != (want > 0) && (ok || runtime.GOOS == "linux") || ok && n != want {
		t.Errorf("got %d, %v, want %d", n, ok, want)
	}
}
