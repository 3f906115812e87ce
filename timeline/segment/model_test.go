package segment_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
	"pgregory.net/rapid"
)

// A model is the log as a plain slice.
type model struct {
	*fixture
	want   []item
	next   uint64
	ids    int
	follow *segment.Reader
	seen   []item // by follow
}

func (m *model) line(rt *rapid.T) (text string) {
	m.ids++
	id := fmt.Sprint("m", m.ids)
	pad := rapid.SampledFrom([]int{0, 0, 0, 50, 700}).Draw(rt, "pad")
	kind := rapid.SampledFrom([]string{"p", "p", "x"}).Draw(rt, "kind")
	m.want = append(m.want, item{id, kind == "p", m.next})
	if kind == "p" {
		m.next++
	}
	return fmt.Sprintf(`{"kind":%q,"id":%q,"key":"k%d","x":"%0*d"}`, kind, id, m.ids%5, pad, 0)
}

func (m *model) write(rt *rapid.T) {
	first := m.next
	var lines []string
	for range rapid.IntRange(1, 4).Draw(rt, "lines") {
		lines = append(lines, m.line(rt))
	}
	w := m.fixture.write(rt, lines...)
	if w.First != first || w.Next != m.next {
		rt.Fatalf("got sequences %d to %d, want %d to %d", w.First, w.Next, first, m.next)
	}
	must(rt, m.log.Sync(w))
}

// foreign appends as another program does: without a sequence, and without
// healing first, hence only to a whole file.
func (m *model) foreign(rt *rapid.T) {
	path := newestPath(m.fixture)
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 || data[len(data)-1] != '\n' {
		rt.Skip("nothing whole to append to")
	}
	must(rt, os.WriteFile(path, append(data, m.line(rt)+"\n"...), 0o600))
}

// tear leaves what a dying writer leaves: a part of a line, or a run of NULs.
func (m *model) tear(rt *rapid.T) {
	path := newestPath(m.fixture)
	if isNotExist(path) {
		rt.Skip("no segment")
	}
	whole := public("torn") + ",,,,,,,,,,"
	tail := whole[:rapid.IntRange(1, len(whole)).Draw(rt, "cut")]
	if rapid.Bool().Draw(rt, "nul") {
		tail = string(make([]byte, len(tail)))
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(rt, err)
	_, err = file.WriteString(tail)
	must(rt, err)
	must(rt, file.Close())
}

func (m *model) reopen(rt *rapid.T) {
	must(rt, m.log.Close())
	m.log = m.handle(rt)
}

func (m *model) seal(rt *rapid.T) {
	_, err := m.log.Seal(context.Background(), m.locks)
	must(rt, err)
}

func (m *model) readFrom(rt *rapid.T) {
	from := rapid.Uint64Range(0, m.next).Draw(rt, "from")
	got, bad := readFrom(rt, m.log, from)
	var want, have []item
	for _, it := range m.want {
		if it.public && it.seq >= from {
			want = append(want, it)
		}
	}
	for _, it := range got {
		if it.public {
			have = append(have, it)
		}
	}
	sameItems(rt, fmt.Sprintf("from %d", from), have, want)
	if len(bad) > 0 {
		rt.Fatalf("from %d: got damage %v", from, bad)
	}
}

func (m *model) backward(rt *rapid.T) {
	limit := rapid.IntRange(0, len(m.want)).Draw(rt, "n")
	v, err := m.log.View(context.Background())
	must(rt, err)
	if v.End() != m.next {
		rt.Fatalf("got end %d, want %d", v.End(), m.next)
	}
	i := len(m.want)
	for line, err := range v.Backward(context.Background()) {
		must(rt, err)
		if it, ok := itemOf(line); ok {
			if i--; it != m.want[i] {
				rt.Fatalf("backward: got %v, want %v", it, m.want[i])
			}
			if len(m.want)-i > limit {
				return
			}
		}
	}
	if i != 0 {
		rt.Fatalf("backward: %d lines are not there", i)
	}
}

// goOn lets the reader that was opened at the start read what is new.
func (m *model) goOn(rt *rapid.T) {
	got, bad, err := drain(m.follow)
	must(rt, err)
	m.seen = append(m.seen, got...)
	sameItems(rt, "the reader that goes on", m.seen, m.want)
	if len(bad) > 0 {
		rt.Fatalf("the reader that goes on: got damage %v", bad)
	}
}

func (m *model) findKey(rt *rapid.T) {
	k := rapid.IntRange(0, 6).Draw(rt, "key")
	digest, _ := testSchema{}.Key(fmt.Appendf(nil, `{"key":"k%d"}`, k))
	var got, want []item
	for line, err := range m.log.FindKey(context.Background(), digest, nil) {
		must(rt, err)
		it, _ := itemOf(line)
		got = append(got, it)
	}
	for i := len(m.want) - 1; i >= 0; i-- {
		var id int
		fmt.Sscanf(m.want[i].id, "m%d", &id)
		if id%5 == k {
			want = append(want, m.want[i])
		}
	}
	sameItems(rt, fmt.Sprint("key ", k), got, want)
}

func (m *model) verify(rt *rapid.T) {
	if _, damage := verify(rt, m.log); len(damage) > 0 {
		rt.Fatalf("verify: got %v", damage)
	}
}

func TestAgainstASlice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		must(rt, err)
		defer os.RemoveAll(dir)
		size := rapid.SampledFrom([]int64{1, 300, 900, 5000, 0}).Draw(rt, "segment bytes")
		m := &model{fixture: newFixture(rt, dir, segment.Options{SegmentBytes: size, Buffered: true})}
		m.speedUp(rt)
		defer m.close()
		m.follow, err = m.log.Reader(context.Background(), 0)
		must(rt, err)
		defer m.follow.Close()
		rt.Repeat(map[string]func(*rapid.T){
			"write":     m.write,
			"write too": m.write,
			"foreign":   m.foreign,
			"tear":      m.tear,
			"reopen":    m.reopen,
			"seal":      m.seal,
			"read from": m.readFrom,
			"backward":  m.backward,
			"go on":     m.goOn,
			"find key":  m.findKey,
			"verify":    m.verify,
		})
	})
}
