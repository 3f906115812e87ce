package timeline_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// What the shape of an intact line says is what the parse of the whole line says.
func TestShapeIsTheParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		entry := anyEntry(t)
		raw, err := timeline.EncodeEntry(entry, now)
		if err != nil {
			t.Skip(err)
		}
		d, err := timeline.DecodeLine(raw)
		if err != nil {
			t.Fatal(err)
		}
		quick := timeline.Schema.(segment.IntactSchema)
		if got := quick.ClassifyIntact(raw); got != d.Class {
			t.Errorf("%s: got %v, want %v", raw, got, d.Class)
		}
		key, has := quick.KeyIntact(raw)
		if want, had := quick.Key(raw); has != had || !bytes.Equal(key, want) {
			t.Errorf("%s: got the key %x, %v, want %x, %v", raw, key, has, want, had)
		}
		e, ok := timeline.DecodeIntact(raw)
		if ok != (d.Class == segment.Public) || e.WithoutRaw() != d.Event.WithoutRaw() {
			t.Errorf("%s: got %+v, %v, want %+v", raw, e, ok, d.Event)
		}
		if got, want := e.JSON(), d.Event.JSON(); ok && !bytes.Equal(got, want) {
			t.Errorf("%s: got the JSON %s, want %s", raw, got, want)
		}
	})
}

func anyEntry(t *rapid.T) timeline.Entry {
	text := func(name string) string {
		return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", `"`, `\`, `\"`, "\n", `","kind":"sent","mid":"`, `{"ts":"`, "null", "é漢🎉"})).Draw(t, name)
	}
	at := rapid.SampledFrom([]time.Time{{}, now, time.UnixMilli(0), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)}).Draw(t, "time")
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return timeline.Status{Time: at, Status: text("status"), Proposal: text("proposal"), Note: text("note")}
	case 1:
		return timeline.Settled{Time: at, MID: text("mid"), Operation: text("operation"), RequestDigest: text("digest")}
	case 2:
		return timeline.Revoked{Time: at, MID: text("mid"), Reason: text("reason")}
	}
	s := timeline.Sent{
		Time: at, MID: text("mid"), Text: text("text"), From: text("from"), Delivered: text("delivered"),
		ReplyVia: rapid.SampledFrom([]timeline.Channel{"", timeline.Terminal, timeline.Note}).Draw(t, "via"),
		NoDebt:   rapid.Bool().Draw(t, "without a debt"),
		FromLife: rapid.Uint64Range(0, 2).Draw(t, "life"),
	}
	if rapid.Bool().Draw(t, "keyed") {
		s.Receipt = &timeline.Receipt{Operation: text("operation"), RequestDigest: text("digest"), PayloadHash: text("hash")}
	}
	return s
}

// A line of another shape is left to the parse.
func TestShapeIsNotGuessed(t *testing.T) {
	const ts = `{"ts":"2026-11-30T09:30:15.780Z",`
	for _, raw := range []string{
		`{"kind":"sent","ts":"2026-11-30T09:30:15.780Z","mid":"m","text":"go","from":null}`,
		`{"ts":"2026-11-30T09:30:15Z","kind":"sent","mid":"m","text":"go","from":null}`,
		ts + `"kind":"sent","text":"go","mid":"m","from":null}`,
		ts + `"kind":"sent","mid":"m","text":7,"from":null}`,
		ts + `"kind":"sent","mid":"m","text":"go`,
		ts + `"kind":"sent","mid":"m","text":"go\",`,
		ts + `"kind":"status","status":"active","proposal":null,"note":n`,
		ts + `"kind":"sent" ,"mid":"m","text":"go","from":null}`,
		ts + `"kind":"sent"`, ts, ``, `{"ts":"`,
	} {
		if e, ok := timeline.DecodeIntact([]byte(raw)); ok {
			t.Errorf("%s: got %+v", raw, e)
		}
	}
}

// Private fields that a line ends with are not kept, and what looks like one elsewhere is
// shown.
func TestPrivateEnd(t *testing.T) {
	const public = `{"ts":"2026-11-30T09:30:15.780Z","kind":"sent","mid":"m","text":",\"docket\":{}","from":"q"`
	for _, tt := range []struct {
		end  string
		kept bool
	}{
		{`,"docket":{}`, false},
		{`,"docket":{"fromLife":3}`, false},
		{`,"dispatchReceipt":{"delivery":{"text":"go","docket":{}}}`, false},
		{`,"dispatchReceipt":{"operation":",\"docket\":{"},"docket":{}`, false},
		{`,"docket":{"a":1},"dispatchReceipt":{},"docket":{"b":2}`, true},
		{`,"x":{"dispatchReceipt":{}}`, true},
		{`,"x":{"y":1,"dispatchReceipt":{}}`, true},
		{`,"x":[{"y":1,"docket":{"z":1}}],"docket":{}`, true},
		{`,"x":{"y":1,"docket":{}}`, true},
		{`,"dispatchReceipt":{},"x":1`, true},
		{`,"dispatchReceipt":{},"x":{}`, true},
		{`,"x":1,"docket":{"y":1}`, true},
	} {
		raw := public + tt.end + `,"crc":"00000000","seq":7}`
		d, err := timeline.DecodeLine([]byte(raw))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		e, ok := timeline.DecodeIntact([]byte(raw))
		if !ok {
			e = d.Event // the parse is asked
		}
		if got, want := e.JSON(), d.Event.JSON(); !bytes.Equal(got, want) || e.WithoutRaw() != d.Event.WithoutRaw() {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
		if kept := e.Raw() != public; kept != tt.kept {
			t.Errorf("%s: got %s", raw, e.Raw())
		}
	}
}

// Each day from the year 0 to the year 9999 is read as the calendar has it.
func TestEachDay(t *testing.T) {
	for day := time.Date(0, 1, 1, 23, 59, 58, 7e6, time.UTC); day.Year() < 10_000; day = day.AddDate(0, 0, 1) {
		got, ok := timeline.TimeByShape(day.Format("2006-01-02T15:04:05.000Z"))
		if !ok || got != day {
			t.Fatalf("got %v, %v, want %v", got, ok, day)
		}
	}
}

// FuzzTime compares the quick reader of times with the standard one.
func FuzzTime(f *testing.F) {
	for _, s := range []string{"2026-11-30T09:30:15.780Z", "2026-02-29T09:30:15.780Z", "0000-01-01T00:00:00.000Z", "2026-11-28T24:00:00.000Z", "2026-11-30T09:30:15.7é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := timeline.TimeByShape(s)
		if !ok {
			return
		}
		want, err := time.Parse(time.RFC3339, s)
		if err != nil || !got.Equal(want) || got != want.UTC() {
			t.Errorf("%q: got %v, want %v, %v", s, got, want, err)
		}
	})
}

// A stored line is read by its shape as it is by the parse, and shown as it is stored.
func TestStoredShape(t *testing.T) {
	dir := newDir(t)
	l := buffered(t, dir, 64<<10)
	rapid.Check(t, func(rt *rapid.T) {
		entry := anyEntry(rt)
		if _, err := l.Append(t.Context(), entry); err != nil {
			rt.Skip(err)
		}
		page, err := l.Tail(t.Context(), 1)
		if err != nil {
			rt.Fatal(err)
		}
		raw, err := os.ReadFile(newest(t, dir))
		if err != nil {
			rt.Fatal(err)
		}
		d, err := timeline.DecodeLine(raw[bytes.LastIndexByte(raw[:len(raw)-1], '\n')+1 : len(raw)-1])
		if err != nil || d.Class != segment.Public {
			return
		}
		for _, e := range page.Events {
			if got, want := e.WithoutRaw(), d.Event.WithoutRaw(); got.Text != want.Text || got.Note != want.Note || got.MID != want.MID || got.Time != want.Time {
				rt.Errorf("got %+v, want %+v", got, want)
			}
			if got, want := e.JSON(), d.Event.JSON(); !bytes.Equal(got, want) {
				rt.Errorf("got the JSON %s, want %s", got, want)
			}
			if got := e.Raw() + "}"; got != string(e.JSON()) {
				rt.Errorf("%s keeps %s", e.JSON(), e.Raw())
			}
		}
	})
}
