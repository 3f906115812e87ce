package segment_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/segment"
)

// copyOf makes a session directory with the given files in its log.
func copyOf(t *testing.T, files map[string][]byte, o segment.Options) *fixture {
	t.Helper()
	f := newFixture(t, t.TempDir(), o)
	must(t, os.MkdirAll(filepath.Join(f.dir, "timeline"), 0o700))
	for path, data := range files {
		must(t, os.WriteFile(filepath.Join(f.dir, path), data, 0o600))
	}
	return f
}

func contents(t *testing.T, f *fixture) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for n := 1; !isNotExist(segmentPath(f, n)); n++ {
		files[fmt.Sprintf("timeline/%012d.ndjson", n)] = fileBytes(t, segmentPath(f, n))
	}
	return files
}

// A writer that died left the newest segment cut at some byte of its last line, or
// of its header. The line is not there for readers, and the next write is whole.
func TestTornAtEveryByte(t *testing.T) {
	small := segment.Options{SegmentBytes: 400}
	whole := newFixture(t, t.TempDir(), small)
	defer whole.close()
	want := filled(t, whole, 6)
	files := contents(t, whole)
	newest := fmt.Sprintf("timeline/%012d.ndjson", len(files))
	data := files[newest]
	for cut := range len(data) {
		files[newest] = data[:cut]
		kept := cutItems(want, data, cut)
		f := copyOf(t, files, small)
		f.speedUp(t)
		reader, err := f.log.Reader(context.Background(), 0)
		must(t, err)
		got, bad, err := drain(reader)
		must(t, err)
		if len(bad) > 0 {
			t.Fatalf("cut %d: got damage %v", cut, bad)
		}
		sameItems(t, fmt.Sprintf("cut %d: before the next write", cut), got, kept)
		w := f.write(t, public("next"))
		after := append(kept[:len(kept):len(kept)], item{"next", true, w.First})
		if next := uint64(publics(kept)); w.First != next || w.Next != next+1 {
			t.Fatalf("cut %d: got sequence %d, want %d", cut, w.First, next)
		}
		got, _ = readFrom(t, f.handle(t), 0)
		sameItems(t, fmt.Sprintf("cut %d: after it", cut), got, after)
		more, _, err := drain(reader)
		must(t, err)
		sameItems(t, fmt.Sprintf("cut %d: the reader that went on", cut), more, after[len(kept):])
		if _, damage := verify(t, f.log); len(damage) > 0 {
			t.Fatalf("cut %d: verify finds %v", cut, damage)
		}
		reader.Close()
		f.close()
	}
}

// cutItems drops the items of lines that do not end before the cut.
func cutItems(want []item, newest []byte, cut int) []item {
	lines := bytes.Count(newest, []byte("\n")) - 1 // less the header
	left := max(0, bytes.Count(newest[:cut], []byte("\n"))-1)
	return want[:len(want)-lines+left]
}

func publics(items []item) (n int) {
	for _, it := range items {
		if it.public {
			n++
		}
	}
	return n
}

func TestTails(t *testing.T) {
	whole := newFixture(t, t.TempDir(), segment.Options{})
	defer whole.close()
	want := filled(t, whole, 4)
	data := contents(t, whole)["timeline/000000000001.ndjson"]
	for _, tt := range []struct {
		name string
		tail []byte
	}{
		{"NUL run", make([]byte, 5000)},
		{"half a character", []byte("{\"kind\":\"p\",\"id\":\"\xc3")},
		{"a whole line without newline", []byte(public("x"))},
		{"larger than a block", bytes.Repeat([]byte("x"), 200<<10)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := copyOf(t, map[string][]byte{"timeline/000000000001.ndjson": append(bytes.Clone(data), tt.tail...)}, segment.Options{})
			defer f.close()
			got, _ := readFrom(t, f.log, 0)
			sameItems(t, "before", got, want)
			w := f.write(t, public("next"))
			got, bad := readFrom(t, f.log, 0)
			sameItems(t, "after", got, append(want[:len(want):len(want)], item{"next", true, w.First}))
			if len(bad) > 0 {
				t.Errorf("got damage %v", bad)
			}
		})
	}
}

// A held handle heals what another writer left while it was open, and counts what
// that one appended.
func TestHeldHandleBesideOthers(t *testing.T) {
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 700})
	defer f.close()
	var want []item
	add := func(log *segment.Log, id string) {
		f.log, log = log, f.log
		w := f.write(t, public(id))
		f.log = log
		want = append(want, item{id, true, w.First})
	}
	first, second := f.log, f.handle(t)
	defer second.Close()
	for i := range 30 {
		add(first, fmt.Sprint("a", i))
		add(second, fmt.Sprint("b", i))
		if i%3 == 0 {
			add(second, fmt.Sprint("c", i))
		}
		if i%4 == 0 {
			file, err := os.OpenFile(newestPath(f), os.O_WRONLY|os.O_APPEND, 0)
			must(t, err)
			_, err = file.WriteString(`{"kind":"p","id":"torn`)
			must(t, errors.Join(err, file.Close()))
		}
	}
	got, bad := readFrom(t, f.log, 0)
	sameItems(t, "forward", got, want)
	for i, it := range want {
		if it.seq != uint64(i) {
			t.Fatalf("got sequence %d for line %d", it.seq, i)
		}
	}
	if _, damage := verify(t, f.log); len(damage) > 0 || len(bad) > 0 {
		t.Errorf("got damage %v %v", damage, bad)
	}
}

// Another program writes the same files without headers and sequences.
func TestForeignWriters(t *testing.T) {
	foreign := func(from, to int) (text []byte) {
		for i := from; i < to; i++ {
			text = fmt.Appendf(text, "{\"kind\":\"p\",\"id\":\"f%d\"}\n{\"kind\":\"x\",\"id\":\"g%d\"}\n", i, i)
		}
		return text
	}
	f := copyOf(t, map[string][]byte{
		"timeline.ndjson":              foreign(0, 3),
		"timeline/000000000001.ndjson": foreign(3, 5),
		"timeline/000000000002.ndjson": foreign(5, 9),
	}, segment.Options{SegmentBytes: 500})
	defer f.close()
	var want []item
	for i := range 9 {
		want = append(want, item{fmt.Sprint("f", i), true, uint64(i)}, item{fmt.Sprint("g", i), false, uint64(i + 1)})
	}
	check := func(what string) {
		t.Helper()
		got, bad := readFrom(t, f.handle(t), 0)
		sameItems(t, what+", forward", got, want)
		got, _ = readBack(t, f.log)
		sameItems(t, what+", backward", got, want)
		v, err := f.log.View(context.Background())
		must(t, err)
		if v.End() != uint64(publics(want)) || len(bad) > 0 {
			t.Fatalf("%s: got end %d, damage %v", what, v.End(), bad)
		}
	}
	check("foreign only")
	before, err := f.log.View(context.Background())
	must(t, err)
	for i := range 20 {
		w := f.write(t, public(fmt.Sprint("own", i)))
		want = append(want, item{fmt.Sprint("own", i), true, w.First})
		check("mixed")
		if i == 10 {
			data := append(fileBytes(t, newestPath(f)), foreign(100, 102)...)
			must(t, os.WriteFile(newestPath(f), data, 0o600))
			n := w.Next
			want = append(want, item{"f100", true, n}, item{"g100", false, n + 1}, item{"f101", true, n + 1}, item{"g101", false, n + 2})
			check("foreign lines in between")
		}
	}
	after, err := f.log.View(context.Background())
	must(t, err)
	if before.Epoch() != after.Epoch() || after.Epoch() == (segment.Epoch{}) {
		t.Errorf("got epochs %v and %v", before.Epoch(), after.Epoch())
	}
	if _, damage := verify(t, f.log); len(damage) > 0 {
		t.Errorf("got damage %v", damage)
	}
	for from := range after.End() + 1 {
		got, _ := readFrom(t, f.handle(t), from)
		if n := publics(got); n != int(after.End()-from) {
			t.Errorf("from %d: got %d public lines, want %d", from, n, after.End()-from)
		}
	}
}

func TestVanishedDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	must(t, os.Mkdir(dir, 0o700))
	f := newFixture(t, dir, segment.Options{})
	defer f.close()
	filled(t, f, 3)
	r, err := f.log.Reader(context.Background(), 0)
	must(t, err)
	defer r.Close()
	_, _, err = drain(r)
	must(t, err)
	must(t, os.RemoveAll(dir))
	if _, _, err := drain(r); !errors.Is(err, segment.ErrClosed) {
		t.Errorf("reader: got %v, want %v", err, segment.ErrClosed)
	}
	if _, err := f.log.View(context.Background()); !errors.Is(err, segment.ErrClosed) {
		t.Errorf("view: got %v, want %v", err, segment.ErrClosed)
	}
	// A new session in its place is another log.
	must(t, os.Mkdir(dir, 0o700))
	locks, err := lock.Open(dir, lock.Options{})
	must(t, err)
	f.locks.Close()
	f.locks = locks
	filled(t, f, 5)
	if _, _, err := drain(r); !errors.Is(err, segment.ErrClosed) {
		t.Errorf("reader of the old log: got %v, want %v", err, segment.ErrClosed)
	}
	got, _ := readFrom(t, f.log, 0)
	if len(got) != 5 {
		t.Errorf("new log: got %d lines, want 5", len(got))
	}
}
