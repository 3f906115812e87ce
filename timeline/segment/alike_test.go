package segment_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/timeline/segment"
)

// Whatever happened to the files of a log, its lines, their numbers and the faults are
// the same whether they are held against their checksums together or each by itself.
func TestDamagedLogsReadAlike(t *testing.T) {
	plain, sealed := longFiles(t, false), longFiles(t, true)
	rapid.Check(t, func(rt *rapid.T) {
		files := map[string][]byte{}
		for path, data := range rapid.SampledFrom([]map[string][]byte{plain, sealed}).Draw(rt, "log") {
			files[path] = bytes.Clone(data)
		}
		paths := slices.Sorted(maps.Keys(files))
		for range rapid.IntRange(0, 4).Draw(rt, "damages") {
			path := rapid.SampledFrom(paths).Draw(rt, "path")
			if files[path] = damaged(rt, files[path]); files[path] == nil {
				delete(files, path)
			}
		}
		f := copyOf(t, files, segment.Options{Buffered: true})
		defer f.close()
		v, err := f.log.View(context.Background())
		must(rt, err)
		from := rapid.Uint64Range(0, v.End()).Draw(rt, "from")
		want, got := told(rt, f.log, from, (*segment.Reader).Single), told(rt, f.log, from, nil)
		for i := range max(len(want), len(got)) {
			if i >= len(got) || i >= len(want) || !reflect.DeepEqual(got[i], want[i]) {
				rt.Fatalf("after %d of %d lines: got %+v, want %+v", i, len(want), got[i:min(i+1, len(got))], want[i:min(i+1, len(want))])
			}
		}
	})
}

// longFiles are those of a log with lines of all lengths, of which a run holds many.
func longFiles(t *testing.T, seal bool) map[string][]byte {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 60_000, Buffered: true})
	defer f.close()
	for i := range 600 {
		kind := []string{"p", "p", "x"}[i%3]
		f.write(t, fmt.Sprintf(`{"kind":%q,"id":"l%d","x":%q}`, kind, i, strings.Repeat("é ", i*i%211)))
	}
	if seal {
		_, err := f.log.Seal(context.Background(), f.locks)
		must(t, err)
	}
	files := map[string][]byte{}
	paths, err := filepath.Glob(filepath.Join(f.dir, "timeline", "*"))
	must(t, err)
	if len(paths) < 3 {
		t.Fatalf("got segments %v, want more", paths)
	}
	for _, path := range paths {
		files[filepath.Join("timeline", filepath.Base(path))] = fileBytes(t, path)
	}
	return files
}

// damaged changes a file, and returns nil if it is to be gone.
func damaged(rt *rapid.T, data []byte) []byte {
	if len(data) == 0 {
		return data
	}
	at := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
	lines := bytes.SplitAfter(data, []byte{'\n'})
	line, other := rapid.IntRange(0, len(lines)-1).Draw(rt, "line"), rapid.IntRange(0, len(lines)-1).Draw(rt, "other")
	switch rapid.SampledFrom([]string{"byte", "ending", "cut", "NULs", "swap", "double", "leave out", "gone"}).Draw(rt, "how") {
	case "byte":
		data[at] = rapid.Byte().Draw(rt, "byte")
	case "ending":
		end := lines[line][max(0, len(lines[line])-30):]
		if len(end) > 0 {
			end[rapid.IntRange(0, len(end)-1).Draw(rt, "in it")] = rapid.SampledFrom([]byte(`0123456789af:",}`)).Draw(rt, "byte")
		}
	case "cut":
		return data[:at]
	case "NULs":
		clear(data[at:min(len(data), at+rapid.IntRange(1, 5000).Draw(rt, "bytes"))])
	case "swap":
		lines[line], lines[other] = lines[other], lines[line]
		return bytes.Join(lines, nil)
	case "double":
		return bytes.Join(slices.Insert(lines, line, lines[other]), nil)
	case "leave out":
		return bytes.Join(slices.Delete(lines, line, line+1), nil)
	case "gone":
		if rapid.IntRange(0, 3).Draw(rt, "really") == 0 {
			return nil
		}
	}
	return data
}

// A heard is what a reader says of a line, or of the end.
type heard struct {
	line segment.Line
	seq  uint64
	end  string
}

// told is what a reader says of a log: of each line all that is known, and the number
// behind it; then how it ended.
func told(rt *rapid.T, log *segment.Log, from uint64, prepare func(*segment.Reader)) (all []heard) {
	r, err := log.Reader(context.Background(), from)
	must(rt, err)
	defer r.Close()
	if prepare != nil {
		prepare(r)
	}
	for {
		line, err := r.Next(context.Background())
		if err != nil {
			return append(all, heard{seq: r.Seq(), end: fmt.Sprint(err, r.Epoch())})
		}
		all = append(all, heard{line: line.Clone(), seq: r.Seq()})
	}
}
