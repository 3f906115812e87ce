package timeline_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline"
	"pgregory.net/rapid"
)

func TestLastHumanAndStatus(t *testing.T) {
	l := buffered(t, newDir(t), 1000)
	appendAll(t, l, timeline.Status{Status: "asking", Note: "which?"})
	human := message(0)
	human.ReplyVia = timeline.Note
	w := appendAll(t, l, human)
	for i := range 50 { // many segments
		peer := message(i + 1)
		peer.From = "lead"
		appendAll(t, l, peer, timeline.Settled{MID: peer.MID})
	}
	want := timeline.Human{MID: "m0", Time: now, Via: timeline.Note, Seq: w.FirstSeq}
	if h, ok, err := l.LastHuman(t.Context()); err != nil || !ok || h != want {
		t.Errorf("got %+v, %v, %v, want %+v", h, ok, err, want)
	}
	if e, ok, err := l.LastStatus(t.Context()); err != nil || !ok || e.Note != "which?" || e.Seq != 0 {
		t.Errorf("got %+v, %v, %v", e, ok, err)
	}
	appendAll(t, l, message(100))
	if h, _, err := l.LastHuman(t.Context()); err != nil || h.MID != "m100" || h.Via != timeline.Terminal {
		t.Errorf("after a plain message: got %+v, %v", h, err)
	}
}

// Another program's mid of any length is found and does not swell the headers.
func TestLastHumanWithALongMID(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 1000)
	appendAll(t, l, message(0))
	mid := strings.Repeat("m", 100_000)
	appendRaw(t, newest(t, dir), `{"kind":"sent","mid":"`+mid+`","docket":{}}`+"\n")
	for range 20 {
		appendAll(t, l, timeline.Status{Status: "active"})
	}
	if h, ok, err := l.LastHuman(t.Context()); err != nil || !ok || h.MID != mid || h.Seq != 1 {
		t.Errorf("got %d bytes of mid, %v, %v", len(h.MID), ok, err)
	}
	if got, want := owedMIDs(t, l), []string{"m0", mid}; !slices.Equal(got, want) {
		t.Errorf("got %d debts, want %d", len(got), len(want))
	}
	if info, err := os.Stat(newest(t, dir)); err != nil || info.Size() > 10_000 {
		t.Errorf("the newest segment has %d bytes, %v", info.Size(), err)
	}
}

// With the older segments gone bad, the answer is still there: nothing was read
// but the newest segment.
func TestLastHumanReadsTheNewestSegmentOnly(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 1000)
	appendAll(t, l, message(0))
	for range 50 {
		appendAll(t, l, timeline.Status{Status: "active"})
	}
	paths, err := filepath.Glob(filepath.Join(dir, "timeline", "*.ndjson"))
	if err != nil || len(paths) < 3 {
		t.Fatalf("got segments %v, %v", paths, err)
	}
	for _, path := range paths[:len(paths)-1] {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, info.Size()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if h, ok, err := buffered(t, dir, 1000).LastHuman(t.Context()); err != nil || !ok || h.MID != "m0" {
		t.Errorf("got %+v, %v, %v", h, ok, err)
	}
}

func owedMIDs(t *testing.T, l *timeline.Log) (mids []string) {
	t.Helper()
	debts, err := l.Owed(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range debts {
		mids = append(mids, d.Sent.MID)
	}
	return mids
}

// More debts than a header lists are found all the same, and once they are
// settled, the search is short again.
func TestOwedBeyondTheHeader(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 30_000)
	var want []string
	for i := range timeline.MaxListed + 100 {
		s := message(i)
		s.Delivered = s.Text + " hint"
		s.Attributes = map[string]string{"i": fmt.Sprint(i)}
		foreign := message(10_000 + i)
		foreign.NoDebt = true
		appendAll(t, l, s, foreign)
		want = append(want, s.MID)
	}
	newHeader := func() (header string) {
		before := newest(t, dir)
		for newest(t, dir) == before {
			appendAll(t, l, timeline.Status{Status: "active", Note: strings.Repeat("x", 5000)})
		}
		raw, err := os.ReadFile(newest(t, dir))
		if err != nil {
			t.Fatal(err)
		}
		header, _, _ = strings.Cut(string(raw), "\n")
		return header
	}
	if h := newHeader(); !strings.Contains(h, `"more":`) {
		t.Fatalf("the header lists all debts: %s", h)
	}
	settle := func(i int) {
		mid := want[i]
		if i%3 == 0 {
			appendAll(t, l, timeline.Revoked{MID: mid, Reason: "obsolete"})
		} else {
			appendAll(t, l, timeline.Settled{MID: mid})
		}
		want = slices.Delete(want, i, i+1)
	}
	for step := 0; len(want) > 0; step++ {
		if step%20 == 0 {
			for _, n := range []int{1000, 60} {
				l.SetDebtsAtOnce(n)
				if got := owedMIDs(t, l); !slices.Equal(got, want) {
					t.Fatalf("step %d, %d at once: got %d debts %v, want %d", step, n, len(got), got, len(want))
				}
			}
		}
		settle(step * 7 % len(want))
	}
	if h := newHeader(); !strings.Contains(h, `"owed":[]}`) {
		t.Errorf("all settled: the header still names debts: %s", h)
	}
	if got := owedMIDs(t, l); len(got) != 0 {
		t.Errorf("all settled: got %v", got)
	}
}

func TestOwedIsWhatWasWritten(t *testing.T) {
	l := buffered(t, newDir(t), 500)
	s := timeline.Sent{Time: now, MID: "m0", Text: "go", From: "lead", ReplyVia: timeline.Note, Delivered: "go hint", Attributes: map[string]string{"a": "b"}, FromLife: 7,
		Receipt: &timeline.Receipt{Operation: "merge", RequestDigest: "d", PayloadHash: "p", Delivery: timeline.Delivery{Text: "go frozen", From: "lead"}}}
	w := appendAll(t, l, s)
	for range 20 {
		appendAll(t, l, timeline.Status{Status: "active"})
	}
	got, err := l.Owed(t.Context())
	if want := []timeline.Debt{{Sent: s, Seq: w.FirstSeq}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	if got[0].Sent.HandedText() != "go frozen" {
		t.Errorf("handed over: got %q", got[0].Sent.HandedText())
	}
}

// rename changes a mid in the first segment, behind the back of the headers.
func rename(t *testing.T, dir, from, to string) {
	t.Helper()
	path := filepath.Join(dir, "timeline", "000000000001.ndjson")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(raw), `"mid":"`+from+`"`, `"mid":"`+to+`"`, 1)
	changed = regexp.MustCompile(`(?m)^(.*"mid":"`+to+`".*),"crc":"[0-9a-f]{8}"`).ReplaceAllString(changed, "$1")
	if changed == string(raw) {
		t.Fatalf("no %s in %s", from, raw)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A header that names a message which its line is not is not believed: the lines
// say what is owed.
func TestOwedDistrustsAWrongHeader(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 500)
	appendAll(t, l, message(0), message(1))
	for range 20 {
		appendAll(t, l, timeline.Status{Status: "active"})
	}
	rename(t, dir, "m1", "x1")
	if got, want := owedMIDs(t, buffered(t, dir, 500)), []string{"m0", "x1"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The fate of a message is found whichever header or line says it.
func TestFate(t *testing.T) {
	for _, filler := range []int{0, 40} {
		t.Run(fmt.Sprintf("%d lines behind", filler), func(t *testing.T) {
			l := buffered(t, newDir(t), 600)
			fill := func() {
				for range filler {
					appendAll(t, l, timeline.Status{Status: "active", Note: `m"q`})
				}
			}
			odd := message(4)
			odd.MID = "m\"q\n" // a mid that is written with escapes
			foreign := message(5)
			foreign.NoDebt = true
			appendAll(t, l, message(0), message(1), message(2), odd, foreign)
			fill()
			appendAll(t, l, timeline.Settled{MID: "m1"}, timeline.Revoked{MID: "m2", Reason: "obsolete"}, timeline.Settled{MID: odd.MID}, timeline.Settled{MID: "unknown"})
			fill()
			together, err := l.Fates(t.Context(), "m0", "m1", "m2", odd.MID, "m5", "unknown", "m1", "")
			if err != nil || len(together) != 5 {
				t.Errorf("together: got %d, %v, want 5", len(together), err)
			}
			for _, tt := range []struct {
				mid              string
				settled, revoked bool
				reason           string
				ours             bool
				seq              uint64
			}{
				{"m0", false, false, "", true, 0},
				{"m1", true, false, "", true, 1},
				{"m2", false, true, "obsolete", true, 2},
				{odd.MID, true, false, "", true, 3},
				{"m5", false, false, "", false, 4},
			} {
				f, ok, err := l.Fate(t.Context(), tt.mid)
				if !reflect.DeepEqual(f, together[tt.mid]) {
					t.Errorf("%q: among others got %+v, alone %+v", tt.mid, together[tt.mid], f)
				}
				if err != nil || !ok || f.Settled != tt.settled || f.Revoked != tt.revoked || f.RevokedReason != tt.reason || f.Ours != tt.ours || f.Seq != tt.seq || f.Sent.MID != tt.mid {
					t.Errorf("%q: got %+v, %v, %v, want %+v", tt.mid, f, ok, err, tt)
				}
				if tt.settled && !f.SettledAt.Equal(now) || tt.revoked && !f.RevokedAt.Equal(now) {
					t.Errorf("%q: got times %v, %v, want %v", tt.mid, f.SettledAt, f.RevokedAt, now)
				}
			}
			if f, ok, err := l.Fate(t.Context(), "unknown"); ok || err != nil {
				t.Errorf("settled but never sent: got %+v, %v, %v", f, ok, err)
			}
		})
	}
}

// Whatever was written, in however many segments, each message's fate is the same
// whether it is asked for alone, with a few others or with all.
func TestFatesAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := buffered(t, newDir(t), rapid.SampledFrom([]int64{400, 3000, -1}).Draw(rt, "bytes"))
		var mids []string
		for range rapid.IntRange(1, 60).Draw(rt, "entries") {
			mid := fmt.Sprintf("m%d", rapid.IntRange(0, 30).Draw(rt, "i"))
			switch rapid.IntRange(0, 3).Draw(rt, "kind") {
			case 0:
				appendAll(t, l, timeline.Settled{MID: mid})
			case 1:
				appendAll(t, l, timeline.Revoked{MID: mid, Reason: "r"})
			default:
				if !slices.Contains(mids, mid) {
					appendAll(t, l, timeline.Sent{MID: mid, Text: "go", NoDebt: rapid.Bool().Draw(rt, "no debt")})
					mids = append(mids, mid)
				}
			}
		}
		asked := rapid.SliceOfDistinct(rapid.SampledFrom(append(mids, "absent")), rapid.ID).Draw(rt, "asked")
		got, err := l.Fates(t.Context(), asked...)
		if err != nil {
			rt.Fatal(err)
		}
		for _, mid := range asked {
			want, ok, err := l.Fate(t.Context(), mid)
			if f, found := got[mid]; err != nil || ok != found || ok != slices.Contains(mids, mid) || !reflect.DeepEqual(f, want) {
				rt.Errorf("%s: got %+v, %v, want %+v, %v, %v", mid, f, found, want, ok, err)
			}
		}
	})
}

// Another program may write a mid with escapes that docket would not use.
func TestFateOfAMIDWithEscapes(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 0)
	appendAll(t, l, message(0))
	appendRaw(t, newest(t, dir), `{"kind":"sent","mid":"\u006d9"}`+"\n"+`{"kind":"dispatch-settled","mid":"m\u0039"}`+"\n")
	if f, ok, err := l.Fate(t.Context(), "m9"); err != nil || !ok || !f.Settled || f.Seq != 1 {
		t.Errorf("got %+v, %v, %v", f, ok, err)
	}
}

func TestReceipt(t *testing.T) {
	l := buffered(t, newDir(t), 600)
	keyed := func(i int) timeline.Sent {
		s := message(i)
		s.Receipt = &timeline.Receipt{Operation: "merge", RequestDigest: fmt.Sprintf("digest%d", i), PayloadHash: "p", Delivery: timeline.Delivery{Text: "frozen"}}
		return s
	}
	for i := range 5 {
		appendAll(t, l, keyed(i), timeline.Status{Status: "active"})
	}
	appendAll(t, l, timeline.Settled{MID: "m1", Operation: "merge", RequestDigest: "digest1"}, timeline.Settled{MID: "m2"},
		timeline.Revoked{MID: "m3", Reason: "r", Operation: "merge", RequestDigest: "digest3"}, timeline.Revoked{MID: "m4", Reason: "r"})
	for range 20 {
		appendAll(t, l, timeline.Status{Status: "active"})
	}
	for _, sealed := range []bool{false, true} {
		for i, want := range []timeline.Found{{}, {Settled: true}, {Settled: true}, {Revoked: true}, {Revoked: true}} {
			f, ok, err := l.Receipt(t.Context(), "merge", fmt.Sprintf("digest%d", i))
			if err != nil || !ok || f.Sent.MID != fmt.Sprintf("m%d", i) || f.Settled != want.Settled || f.Revoked != want.Revoked || f.Seq != uint64(2*i) {
				t.Errorf("%d, sealed %v: got %+v, %v, %v, want %+v", i, sealed, f, ok, err, want)
			}
		}
		for _, key := range [][2]string{{"merge", "digest9"}, {"other", "digest1"}, {"merged", "igest1"}} {
			if f, ok, err := l.Receipt(t.Context(), key[0], key[1]); ok || err != nil {
				t.Errorf("%v, sealed %v: got %+v, %v, %v", key, sealed, f, ok, err)
			}
		}
		if _, err := l.Seal(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A header named a line, and the line is gone: that is corruption, not absence.
func TestNamedLineIsMissing(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 500)
	appendAll(t, l, message(0))
	for range 20 {
		appendAll(t, l, message(1000), timeline.Settled{MID: "m1000"})
	}
	rename(t, dir, "m0", "x0")
	if f, ok, err := buffered(t, dir, 500).Fate(t.Context(), "m0"); !errors.Is(err, timeline.ErrCorrupt) {
		t.Errorf("got %+v, %v, %v, want %v", f, ok, err, timeline.ErrCorrupt)
	}
	if f, err := buffered(t, dir, 500).Fates(t.Context(), "m0", "x0"); !errors.Is(err, timeline.ErrCorrupt) {
		t.Errorf("with others: got %+v, %v, want %v", f, err, timeline.ErrCorrupt)
	}
	if f, ok, err := buffered(t, dir, 500).Fate(t.Context(), "x0"); err != nil || !ok || f.Seq != 0 {
		t.Errorf("the line that is there: got %+v, %v, %v", f, ok, err)
	}
}

// A Log that is asked again says what a fresh one says.
func TestLastHumanAgain(t *testing.T) {
	dir := newDir(t)
	asked := buffered(t, dir, 1500)
	rapid.Check(t, func(rt *rapid.T) {
		m := message(rapid.IntRange(0, 1e6).Draw(rt, "message"))
		switch rapid.IntRange(0, 3).Draw(rt, "what") {
		case 0:
			m.From = "lead"
			appendAll(t, buffered(t, dir, 1500), m)
		case 1:
			m.ReplyVia = rapid.SampledFrom([]timeline.Channel{timeline.Terminal, timeline.Note}).Draw(rt, "via")
			appendAll(t, buffered(t, dir, 1500), m)
		case 2:
			appendAll(t, asked, timeline.Status{Status: "active"})
		}
		got, ok, err := asked.LastHuman(t.Context())
		want, there, wrong := buffered(t, dir, 1500).LastHuman(t.Context())
		if got != want || ok != there || err != nil || wrong != nil {
			rt.Fatalf("got %+v, %v, %v, a fresh one %+v, %v, %v", got, ok, err, want, there, wrong)
		}
	})
}

// The log of a session that was closed and made again has nothing of the old one.
func TestLastHumanOfAnotherLife(t *testing.T) {
	dir := newDir(t)
	asked := buffered(t, dir, 0)
	appendAll(t, asked, message(1))
	if _, ok, err := asked.LastHuman(t.Context()); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "timeline")); err != nil {
		t.Fatal(err)
	}
	appendAll(t, buffered(t, dir, 0), timeline.Status{Status: "active"}, timeline.Status{Status: "idle"})
	if h, ok, err := asked.LastHuman(t.Context()); ok || err != nil {
		t.Errorf("got %+v, %v, %v, want none", h, ok, err)
	}
}
