package top_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/cmd/docket/internal/top"
)

// said is the event with that sequence.
func said(seq uint64) top.Event {
	return top.Event{Seq: seq, Time: noon.Add(time.Duration(seq) * time.Minute), MID: fmt.Sprint("m", seq), Who: "human", Text: fmt.Sprintf("this is event number %d\nof many", seq)}
}

func page(live bool, from, to uint64) top.Page {
	p := top.Page{Session: "worker-3", Live: live, First: from == 0}
	for seq := from; seq < to; seq++ {
		p.Events = append(p.Events, said(seq))
	}
	return p
}

// reading is a model that reads worker-3, of which the last n events are known.
func reading(from, to uint64) *top.Model {
	m := shown(60, 20)
	m.Press("j<enter>")
	m.PutPage(page(true, from, to))
	return m
}

func TestReaderFollowsTheEnd(t *testing.T) {
	m := reading(0, 100)
	if frame := text(m.Draw()); !strings.Contains(frame, "number 99") || !strings.Contains(frame, "live") {
		t.Errorf("got\n%s", frame)
	}
	m.PutPage(page(true, 100, 101))
	if frame := text(m.Draw()); !strings.Contains(frame, "number 100") {
		t.Errorf("got\n%s", frame)
	}
	m.Press("kkkk")
	before := text(m.Draw())
	m.PutPage(page(true, 101, 102))
	if after := text(m.Draw()); withoutHead(after) != withoutHead(before) {
		t.Errorf("it moved while somebody reads further up: got\n%s\nwant\n%s", after, before)
	}
	m.Press("G")
	if frame := text(m.Draw()); !strings.Contains(frame, "number 101") || !strings.Contains(frame, "live") {
		t.Errorf("got\n%s", frame)
	}
}

// withoutHead is a frame without the place, which tells how much there is.
func withoutHead(frame string) string {
	_, body, _ := strings.Cut(frame, "\n")
	return body
}

func TestReaderAsksForOlderOnce(t *testing.T) {
	m := reading(300, 400)
	want := []top.Command{{Act: top.Older, Session: "worker-3", Before: 300}}
	if got := m.Press("g"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := m.Press("g"); got != nil {
		t.Errorf("it asks again: %v", got)
	}
	before := text(m.Draw())
	m.PutPage(page(false, 0, 300))
	if after := text(m.Draw()); !strings.Contains(after, "number 300") || !strings.Contains(before, "number 300") {
		t.Errorf("what was read has moved: got\n%s\nwant\n%s", after, before)
	}
	m.Press("g")
	if frame := text(m.Draw()); !strings.Contains(frame, "number 0\n") || !strings.Contains(frame, "start") {
		t.Errorf("got\n%s", frame)
	}
	if got := m.Press("g"); got != nil {
		t.Errorf("it asks for more than there is: %v", got)
	}
}

func TestReaderAsksAgainAfterAnError(t *testing.T) {
	m := reading(300, 400)
	m.Press("g")
	m.Done(top.Command{Act: top.Older, Session: "worker-3", Before: 300}, "the disk failed", true)
	if frame := text(m.Draw()); !strings.Contains(frame, "the disk failed") {
		t.Errorf("got\n%s", frame)
	}
	if got := m.Press("g"); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestReaderShowsItsSessionAlone(t *testing.T) {
	m := reading(0, 10)
	p := page(true, 10, 20)
	p.Session = "another"
	m.PutPage(p)
	if got := m.Held(); got != 10 {
		t.Errorf("it holds %d events", got)
	}
}

func TestReaderIsBounded(t *testing.T) {
	m := reading(0, 100)
	for from := uint64(100); from < 10_000; from += 100 {
		m.PutPage(page(true, from, from+100))
	}
	if got := m.Held(); got > 4000 {
		t.Errorf("it holds %d events", got)
	}
	want := []top.Command{{Act: top.Older, Session: "worker-3", Before: 6000}}
	if got := m.Press("g"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSearch(t *testing.T) {
	m := reading(0, 100)
	for _, tt := range []struct{ keys, want, notice string }{
		{"/NUMBER 42<enter>", "number 42", ""}, // letters of either case
		{"n", "number 42", "nothing more"},     // there is one alone
		{"/number 9<enter>", "number 99", ""},  // from the end of the window up
		{"N", "number 98", ""},
		{"n", "number 99", ""},
		{"/number 0<enter>", "> this is event number 0\n", ""}, // the first event of all
		{"G/nowhere<enter>", "number 99", "not found in what is loaded: nowhere"},
		{"/<enter>", "number 99", ""},
	} {
		if tt.keys == "/number 9<enter>" {
			m.Press("G")
		}
		m.Press(tt.keys)
		frame := text(m.Draw())
		if !strings.Contains(frame, tt.want) || !strings.Contains(frame, tt.notice) {
			t.Errorf("%s: no %q or %q in\n%s", tt.keys, tt.want, tt.notice, frame)
		}
	}
}

// However pages come, the window is moved and the terminal changes: what is drawn fits,
// the end is shown while it is followed, and the rows are those of the whole text.
func TestReader(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := top.New("/store", 60, 20, noon)
		m.Put(top.Batch{Rows: []top.Row{{ID: "worker-3"}}})
		m.Press("<enter>")
		first, next, width, height := uint64(50), uint64(60), 60, 20
		m.PutPage(page(true, first, next))
		rt.Repeat(map[string]func(*rapid.T){
			"live": func(rt *rapid.T) {
				n := uint64(rapid.IntRange(1, 5).Draw(rt, "n"))
				m.PutPage(page(true, next, next+n))
				next += n
			},
			"older": func(rt *rapid.T) {
				n := min(first, uint64(rapid.IntRange(1, 20).Draw(rt, "n")))
				m.PutPage(page(false, first-n, first))
				first -= n
			},
			"move":   func(rt *rapid.T) { m.Press(rapid.SampledFrom([]string{"j", "k", " ", "b", "g", "G"}).Draw(rt, "key")) },
			"search": func(rt *rapid.T) { m.Press("/number " + rapid.StringMatching(`[0-9]?`).Draw(rt, "n") + "<enter>") },
			"hit":    func(rt *rapid.T) { m.Press(rapid.SampledFrom([]string{"n", "N"}).Draw(rt, "key")) },
			"resize": func(rt *rapid.T) {
				width, height = rapid.IntRange(1, 90).Draw(rt, "width"), rapid.IntRange(1, 30).Draw(rt, "height")
				m.Resize(width, height)
			},
			"": func(rt *rapid.T) {
				f := m.Draw()
				fits(rt, f, width, height)
				if frame := text(f); width > 40 && height > 10 && strings.Contains(frame, " live\n") && !strings.Contains(frame, fmt.Sprintf("number %d\n", next-1)) {
					rt.Fatalf("it is live and does not show event %d:\n%s", next-1, frame)
				}
				if got := m.Held(); got != int(next-first) {
					rt.Fatalf("it holds %d events, want %d", got, next-first)
				}
			},
		})
	})
}
