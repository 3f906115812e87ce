package timeline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/docket-go/docket/timeline"
	"pgregory.net/rapid"
)

// TestLogAgainstASlice drives one log through everything that writers, sealing and
// other programs do to it, and compares every read with plain slices.
func TestLogAgainstASlice(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(t, rt)
		defer m.close()
		rt.Repeat(map[string]func(*rapid.T){
			"status":       m.status,
			"sent":         m.sent,
			"settled":      m.settled,
			"revoked":      m.revoked,
			"group":        m.group,
			"other writer": m.foreign,
			"bad line":     m.badLine,
			"torn tail":    m.tear,
			"seal":         m.seal,
			"reopen":       func(rt *rapid.T) { m.close(); m.open(rt) },
			"tail":         m.tail,
			"keep cursor":  m.keepCursor,
			"use cursor":   m.useCursor,
			"fate":         m.fate,
			"":             m.check,
		})
	})
}

// A model is a log and what must be in it.
type model struct {
	dir     string
	options timeline.Options
	log     *timeline.Log
	events  []timeline.Event // less the raw line
	bad     int
	torn    bool
	mids    int
	fates   map[string]string // by mid: owed, settled, revoked
	order   []string          // our mids, in order
	atOnce  int               // debts
	cursors map[timeline.Cursor]int
	page    timeline.Page // read into again and again
}

func newModel(t *testing.T, rt *rapid.T) *model {
	m := &model{dir: filepath.Join(t.TempDir(), "s1"), fates: map[string]string{}, cursors: map[timeline.Cursor]int{}}
	m.atOnce = rapid.SampledFrom([]int{1, 2, 5, 1000}).Draw(rt, "debts at once")
	m.options = timeline.Options{Buffered: true, SegmentBytes: rapid.Int64Range(300, 3000).Draw(rt, "segment bytes")}
	if err := os.Mkdir(m.dir, 0o700); err != nil {
		rt.Fatal(err)
	}
	m.open(rt)
	return m
}

func (m *model) open(rt *rapid.T) {
	l, err := timeline.Open(m.dir, m.options)
	if err != nil {
		rt.Fatal(err)
	}
	m.log = l
	m.log.SetDebtsAtOnce(m.atOnce)
}

func (m *model) close() { m.log.Close() }

var words = rapid.SampledFrom([]string{"", "go", "run the tests", "é漢🎉", "a\nb\t\"c\"\\", "\u2028<&>\u2029", "\x01\x7f"})

func (m *model) newStatus(rt *rapid.T) timeline.Status {
	return timeline.Status{Time: now, Status: words.Draw(rt, "status"), Proposal: words.Draw(rt, "proposal"), Note: words.Draw(rt, "note")}
}

func (m *model) newSent(rt *rapid.T) timeline.Sent {
	m.mids++
	s := timeline.Sent{
		Time: now, MID: fmt.Sprintf("m%d", m.mids), Text: words.Draw(rt, "text"),
		From: rapid.SampledFrom([]string{"", "lead", "peer"}).Draw(rt, "from"), ReplyVia: rapid.SampledFrom([]timeline.Channel{"", timeline.Note}).Draw(rt, "via"),
		Delivered: words.Draw(rt, "delivered"), NoDebt: rapid.Bool().Draw(rt, "no debt"),
	}
	if rapid.Bool().Draw(rt, "keyed") {
		s.Receipt = &timeline.Receipt{Operation: "op", RequestDigest: s.MID, PayloadHash: "p", Delivery: timeline.Delivery{Text: s.Text}}
	}
	return s
}

// append stores the entries and notes what must be read from now on.
func (m *model) append(rt *rapid.T, entries ...timeline.Entry) {
	w, err := m.log.Append(rt.Context(), entries...)
	if err != nil {
		rt.Fatal(err)
	}
	if w.FirstSeq != uint64(len(m.events)) {
		rt.Fatalf("got sequence %d, want %d", w.FirstSeq, len(m.events))
	}
	m.cursors[w.First] = len(m.events)
	for _, e := range entries {
		m.note(e)
	}
	m.cursors[w.Next] = len(m.events)
	m.torn = false
}

func (m *model) note(e timeline.Entry) {
	seq := uint64(len(m.events))
	switch e := e.(type) {
	case timeline.Status:
		m.events = append(m.events, timeline.Event{Seq: seq, Time: e.Time, Kind: timeline.KindStatus, Status: e.Status, Proposal: e.Proposal, Note: e.Note})
	case timeline.Sent:
		m.events = append(m.events, timeline.Event{Seq: seq, Time: e.Time, Kind: timeline.KindSent, MID: e.MID, Text: e.Text, From: e.From, ReplyVia: e.ReplyVia})
		m.fates[e.MID] = "owed"
		if !e.NoDebt {
			m.order = append(m.order, e.MID)
		}
	case timeline.Settled:
		m.fates[e.MID] = "settled"
	case timeline.Revoked:
		m.fates[e.MID] = "revoked"
	}
}

func (m *model) status(rt *rapid.T) { m.append(rt, m.newStatus(rt)) }

func (m *model) sent(rt *rapid.T) { m.append(rt, m.newSent(rt)) }

// undecided returns a message that nothing was done with yet.
func (m *model) undecided(rt *rapid.T) (mid string) {
	var mids []string
	for mid, fate := range m.fates {
		if fate == "owed" {
			mids = append(mids, mid)
		}
	}
	if len(mids) == 0 {
		rt.Skip("nothing is undecided")
	}
	slices.Sort(mids)
	return rapid.SampledFrom(mids).Draw(rt, "mid")
}

func (m *model) settled(rt *rapid.T) { m.append(rt, timeline.Settled{MID: m.undecided(rt)}) }

func (m *model) revoked(rt *rapid.T) {
	m.append(rt, timeline.Revoked{MID: m.undecided(rt), Reason: "r"})
}

func (m *model) group(rt *rapid.T) {
	mid := m.undecided(rt)
	m.append(rt, m.newSent(rt), timeline.Settled{MID: mid}, m.newStatus(rt), m.newSent(rt))
}

// raw appends to the file as a program without a lock would, where the file ends
// with a whole line.
func (m *model) raw(rt *rapid.T, bytes string) {
	paths, err := filepath.Glob(filepath.Join(m.dir, "timeline", "*.ndjson"))
	if err != nil || len(paths) == 0 || m.torn {
		rt.Skip("no file to append to")
	}
	f, err := os.OpenFile(paths[len(paths)-1], os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		rt.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(bytes); err != nil {
		rt.Fatal(err)
	}
}

func (m *model) foreign(rt *rapid.T) {
	m.raw(rt, `{"ts":"2026-11-30T09:30:15.780Z","kind":"sent","mid":"f","text":"by another","from":"other"}`+"\n")
	m.events = append(m.events, timeline.Event{Seq: uint64(len(m.events)), Time: now, Kind: timeline.KindSent, MID: "f", Text: "by another", From: "other"})
}

func (m *model) badLine(rt *rapid.T) {
	m.raw(rt, rapid.SampledFrom([]string{"\x00\x00\n", `{"kind":"sent","te{"kind":"sent"}` + "\n", `{"kind":"status","note":7}` + "\n"}).Draw(rt, "line"))
	m.bad++
}

func (m *model) tear(rt *rapid.T) {
	line, err := timeline.EncodeEntry(m.newSent(rt), now)
	if err != nil {
		rt.Fatal(err)
	}
	m.raw(rt, string(line[:rapid.IntRange(1, len(line)).Draw(rt, "bytes")]))
	m.torn = true
}

func (m *model) seal(rt *rapid.T) {
	if _, err := m.log.Seal(rt.Context()); err != nil {
		rt.Fatal(err)
	}
}

func (m *model) tail(rt *rapid.T) {
	n := rapid.IntRange(0, len(m.events)+2).Draw(rt, "n")
	page, err := m.log.Tail(rt.Context(), n)
	if err != nil {
		rt.Fatal(err)
	}
	m.same(rt, page.Events, len(m.events)-min(n, len(m.events)))
	m.cursors[page.Next] = len(m.events)
	if err := m.log.TailInto(rt.Context(), &m.page, n); err != nil {
		rt.Fatal(err)
	}
	if !slices.Equal(m.page.Events, page.Events) || m.page.Next != page.Next || len(m.page.Bad) != len(page.Bad) {
		rt.Fatalf("the last %d into a page: got %+v, want %+v", n, m.page, page)
	}
}

func (m *model) keepCursor(rt *rapid.T) {
	seq := rapid.IntRange(0, len(m.events)).Draw(rt, "seq")
	c, err := m.log.CursorAt(rt.Context(), uint64(seq))
	if err != nil {
		rt.Fatal(err)
	}
	parsed, err := timeline.ParseCursor(c.String())
	if err != nil {
		rt.Fatal(err)
	}
	m.cursors[parsed] = seq
}

// useCursor reads on from every cursor that was ever given out.
func (m *model) useCursor(rt *rapid.T) {
	for c, seq := range m.cursors {
		events, _ := m.read(rt, m.log.From(rt.Context(), c))
		m.same(rt, events, seq)
	}
}

func (m *model) fate(rt *rapid.T) {
	for mid, want := range m.fates {
		f, ok, err := m.log.Fate(rt.Context(), mid)
		if err != nil || !ok || f.Settled != (want == "settled") || f.Revoked != (want == "revoked") {
			rt.Fatalf("%s: got %+v, %v, %v, want %s", mid, f, ok, err, want)
		}
		r, ok, err := m.log.Receipt(rt.Context(), "op", mid)
		if err != nil || ok != (f.Sent.Receipt != nil) || ok && (r.Settled != f.Settled || r.Revoked != f.Revoked || r.Seq != f.Seq) {
			rt.Fatalf("%s: got receipt %+v, %v, %v, want as in %+v", mid, r, ok, err, f)
		}
	}
}

// check compares the reads of the whole log, after every step.
func (m *model) check(rt *rapid.T) {
	events, bad := m.read(rt, m.log.All(rt.Context()))
	m.same(rt, events, 0)
	if bad != m.bad {
		rt.Fatalf("got %d bad lines, want %d", bad, m.bad)
	}
	var owed, wantOwed []string
	debts, err := m.log.Owed(rt.Context())
	if err != nil {
		rt.Fatal(err)
	}
	for _, d := range debts {
		owed = append(owed, d.Sent.MID)
	}
	for _, mid := range m.order {
		if m.fates[mid] == "owed" {
			wantOwed = append(wantOwed, mid)
		}
	}
	if !slices.Equal(owed, wantOwed) {
		rt.Fatalf("got owed %v, want %v", owed, wantOwed)
	}
	m.checkLast(rt)
}

func (m *model) checkLast(rt *rapid.T) {
	var human, status *timeline.Event
	for i := range m.events {
		e := &m.events[i]
		if e.Human() {
			human = e
		}
		if e.Kind == timeline.KindStatus {
			status = e
		}
	}
	h, ok, err := m.log.LastHuman(rt.Context())
	if err != nil || ok != (human != nil) || ok && h != (timeline.Human{MID: human.MID, Time: human.Time, Via: human.Via(), Seq: human.Seq}) {
		rt.Fatalf("got last human %+v, %v, %v, want %+v", h, ok, err, human)
	}
	s, ok, err := m.log.LastStatus(rt.Context())
	if err != nil || ok != (status != nil) || ok && s.WithoutRaw() != *status {
		rt.Fatalf("got last status %+v, %v, %v, want %+v", s, ok, err, status)
	}
}

func (m *model) read(rt *rapid.T, seq func(func(timeline.Event, error) bool)) (events []timeline.Event, bad int) {
	for e, err := range seq {
		switch {
		case errors.Is(err, timeline.ErrCorrupt):
			bad++
		case err != nil:
			rt.Fatal(err)
		default:
			events = append(events, e)
		}
	}
	return events, bad
}

// same compares events with those of the model from a sequence on.
func (m *model) same(rt *rapid.T, events []timeline.Event, from int) {
	want := m.events[from:]
	if len(events) != len(want) {
		rt.Fatalf("from %d: got %d events, want %d", from, len(events), len(want))
	}
	for i, e := range events {
		if e.WithoutRaw() != want[i] {
			rt.Fatalf("from %d: got %+v, want %+v", from, e, want[i])
		}
	}
}
