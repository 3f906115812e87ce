package segment_test

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
)

// A stayer is a reader at the end of a log, of which the test holds the newest segment.
type stayer struct {
	*fixture
	t    *testing.T
	r    *segment.Reader
	file *os.File
}

func newStayer(t *testing.T) *stayer {
	t.Helper()
	f := newFixture(t, t.TempDir(), segment.Options{SegmentBytes: 16 << 10})
	t.Cleanup(f.close)
	f.write(t, public("a"))
	r, err := f.log.Reader(context.Background(), 1)
	must(t, err)
	t.Cleanup(func() { r.Close() })
	file, err := os.OpenFile(segmentPath(f, 1), os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	t.Cleanup(func() { file.Close() })
	s := &stayer{f, t, r, file}
	s.want(false, nil)
	return s
}

func (s *stayer) add(text string) {
	s.t.Helper()
	_, err := s.file.WriteString(text)
	must(s.t, err)
}

// want reads to the end, or to an error, and compares the public lines.
func (s *stayer) want(stay bool, end error, ids ...string) {
	s.t.Helper()
	s.r.Stay(stay)
	s.read(end, ids...)
}

func (s *stayer) read(end error, ids ...string) {
	s.t.Helper()
	var got []string
	for {
		line, err := s.r.Next(context.Background())
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			if !errors.Is(err, end) {
				s.t.Errorf("got the error %v, want %v", err, end)
			}
			break
		}
		if it, ok := itemOf(line); ok && it.public {
			got = append(got, it.id)
		}
	}
	if !slices.Equal(got, ids) {
		s.t.Errorf("got %.60q, want %.60q", got, ids)
	}
}

// A reader that stays looks at nothing but its open file once that has grown.
func TestReaderStays(t *testing.T) {
	s := newStayer(t)
	must(t, os.Rename(segmentPath(s.fixture, 1), segmentPath(s.fixture, 1)+".away"))
	for _, id := range []string{"b", "c"} {
		s.add(public(id) + "\n")
		s.want(true, nil, id)
	}
	s.want(false, segment.ErrClosed)
}

// A reader that peeks gives out what one read shows, and looks at nothing else. That counts
// for one that stays behind it.
func TestReaderPeeks(t *testing.T) {
	s := newStayer(t)
	must(t, os.Rename(segmentPath(s.fixture, 1), segmentPath(s.fixture, 1)+".away"))
	peek := func(ids ...string) {
		t.Helper()
		s.r.Peek()
		s.read(nil, ids...)
	}
	peek()
	s.add(public("b") + "\n" + public("c") + "\n" + `{"kind":`)
	peek("b", "c")
	s.want(true, nil)
	s.add(strings.TrimPrefix(public("d"), `{"kind":`) + "\n")
	peek("d")
	s.add(public("e") + "\n")
	s.want(true, nil, "e")
	peek()
	s.want(true, segment.ErrClosed) // which finds nothing
}

// One that finds nothing looks at everything.
func TestReaderStaysOnlyForLines(t *testing.T) {
	s := newStayer(t)
	must(t, os.Rename(segmentPath(s.fixture, 1), segmentPath(s.fixture, 1)+".away"))
	s.add(`{"kind":"p"`) // not committed
	s.want(true, segment.ErrClosed)

	s = newStayer(t)
	must(t, s.file.Truncate(10))
	s.want(true, segment.ErrCorrupt)
}

// However lines are longer or shorter than what is read at once, and wherever they are,
// each comes once.
func TestReaderStaysAndFindsAll(t *testing.T) {
	s := newStayer(t)
	for i := range 40 {
		var ids []string
		var text string
		for j := range 1 + i%3 {
			id := strconv.Itoa(i) + "." + strconv.Itoa(j) + strings.Repeat("x", i*i*i%9000)
			ids, text = append(ids, id), text+public(id)+"\n"
		}
		last := len(ids) - 1
		s.add(text[:len(text)-5])
		s.want(true, nil, ids[:last]...)
		s.add(text[len(text)-5:])
		s.want(i%2 == 0, nil, ids[last])
	}
	for i := range 20 { // a long one behind a short one, in one write
		short, long := "s"+strconv.Itoa(i), "l"+strconv.Itoa(i)+strings.Repeat("z", i*500)
		s.add(public(short) + "\n" + public(long) + "\n")
		s.want(true, nil, short, long)
	}
	for i := range 60 { // over several segments
		id := strconv.Itoa(i) + strings.Repeat("y", 1000)
		s.write(t, private(id), public(id))
		s.want(i%2 == 0, nil, id)
	}
}
