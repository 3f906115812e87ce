package timeline_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// FuzzLine compares the decoder with encoding/json on any bytes.
func FuzzLine(f *testing.F) {
	for _, raw := range fixtureLines(f) {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := timeline.DecodeLine(raw)
		if got := timeline.Schema.Classify(raw); got != d.Class || (err != nil) != (got == segment.Unreadable) {
			t.Fatalf("Classify says %v, decoding says %v, %v", got, d.Class, err)
		}
		timeline.Schema.Key(raw)
		fold := timeline.Schema.Fold(nil)
		fold.Add(segment.Line{Bytes: raw, Class: d.Class})
		if facts := fold.Facts(); !json.Valid(facts) || bytes.ContainsRune(facts, '\n') {
			t.Errorf("facts are %q", facts)
		}
		if want := classOf(raw); d.Class != want {
			t.Fatalf("got %v, encoding/json says %v", d.Class, want)
		}
		if d.Class == segment.Public {
			comparePublic(t, raw, d.Event)
		}
		timeline.DecodeIntact(raw) // must not panic
	})
}

// classOf is what a line is by encoding/json.
func classOf(raw []byte) segment.Class {
	var m map[string]any
	if json.Unmarshal(raw, &m) != nil || m == nil {
		return segment.Unreadable
	}
	kind, ok := m["kind"].(string)
	if !ok {
		return segment.Unreadable
	}
	texts := map[string][]string{
		"status": {"ts", "status", "proposal", "note"}, "sent": {"ts", "mid", "text", "from", "replyVia"},
		"dispatch-settled": {"ts", "mid", "operation", "requestDigest", "reason"}, "dispatch-revoked": {"ts", "mid", "operation", "requestDigest", "reason"},
	}
	for _, name := range texts[kind] {
		if _, ok := m[name].(string); !ok && m[name] != nil {
			return segment.Unreadable
		}
	}
	if kind == "status" || kind == "sent" {
		return segment.Public
	}
	return segment.Private
}

func comparePublic(t *testing.T, raw []byte, e timeline.Event) {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	fields := map[string]string{"status": e.Status, "proposal": e.Proposal, "note": e.Note}
	if e.Kind == timeline.KindSent {
		fields = map[string]string{"mid": e.MID, "text": e.Text, "from": e.From, "replyVia": string(e.ReplyVia)}
	}
	for name, got := range fields {
		if want, _ := m[name].(string); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	shown := e.JSON()
	var public map[string]json.RawMessage
	if err := json.Unmarshal(shown, &public); err != nil || !utf8.Valid(shown) {
		t.Fatalf("JSON gives %q: %v", shown, err)
	}
	for _, name := range []string{"dispatchReceipt", "docket", "seq"} {
		if _, ok := public[name]; ok {
			t.Errorf("JSON shows %s: %s", name, shown)
		}
	}
	again, err := timeline.DecodeLine(shown)
	if err != nil || again.Event.MID != e.MID || again.Event.Text != e.Text || again.Event.Note != e.Note || !again.Event.Time.Equal(e.Time) {
		t.Errorf("decoded from its JSON: got %+v, %v, want %+v", again.Event, err, e)
	}
}

// FuzzRoundTrip stores a message and a status of any texts and reads them back.
func FuzzRoundTrip(f *testing.F) {
	f.Add("m1", "run the tests", "", "run the tests\n\nhint", "k", "v")
	f.Add("m2", "\u2028\u2029 \x01\"\\/\b", "lead", "", "", "é")
	f.Fuzz(func(t *testing.T, mid, text, from, delivered, name, attr string) {
		s := timeline.Sent{Time: now, MID: mid, Text: text, From: from, ReplyVia: timeline.Note, Delivered: delivered, Attributes: map[string]string{name: attr},
			Receipt: &timeline.Receipt{Operation: mid, RequestDigest: mid, PayloadHash: attr, Delivery: timeline.Delivery{Text: delivered, From: from}}}
		raw, err := timeline.EncodeEntry(s, now)
		if err != nil {
			return
		}
		if !json.Valid(raw) || bytes.ContainsAny(raw, "\n\r\x00") {
			t.Fatalf("got %q", raw)
		}
		d, err := timeline.DecodeLine(raw)
		if err != nil {
			t.Fatal(err)
		}
		got := d.Sent
		if got.MID != mid || got.Text != text || got.From != from || !got.Time.Equal(now) || got.Attributes[name] != attr || *got.Receipt != *s.Receipt || got.NoDebt {
			t.Errorf("got %+v, want %+v", got, s)
		}
		if got.HandedText() != s.HandedText() {
			t.Errorf("handed over: got %q, want %q", got.HandedText(), s.HandedText())
		}
		if e, ok := timeline.DecodeIntact(raw); !ok || e.WithoutRaw() != d.Event.WithoutRaw() || !bytes.Equal(e.JSON(), d.Event.JSON()) {
			t.Errorf("by its shape: got %+v, %v, want %+v", e, ok, d.Event)
		}
		digest, ok := timeline.Schema.Key(raw)
		settled, _ := timeline.EncodeEntry(timeline.Settled{MID: mid, Operation: mid, RequestDigest: mid}, now)
		if same, _ := timeline.Schema.Key(settled); !ok || !bytes.Equal(digest, same) {
			t.Errorf("the keys of message and settlement differ: %x, %x", digest, same)
		}
	})
}

// FuzzCursor finds that no text but a cursor's own is taken for one.
func FuzzCursor(f *testing.F) {
	f.Add(timeline.NewCursor("s1", segment.Epoch{1, 2, 3}, 7).String())
	f.Add(timeline.NewCursor("", segment.Epoch{}, 0).String())
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := timeline.ParseCursor(text)
		if err == nil && c.String() != text {
			t.Errorf("%q is taken for %q", text, c.String())
		}
		if err != nil && !c.IsZero() {
			t.Errorf("%q gives %v with an error", text, c)
		}
	})
}

// fixtureLines returns the lines that the reference implementation wrote.
func fixtureLines(t testing.TB) (lines [][]byte) {
	t.Helper()
	for _, pattern := range []string{"timeline.ndjson", "timeline/*.ndjson"} {
		paths, err := filepath.Glob(filepath.Join("testdata", "reference-session", pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, bytes.Split(bytes.TrimSpace(raw), []byte("\n"))...)
		}
	}
	return lines
}
