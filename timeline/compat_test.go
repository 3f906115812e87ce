package timeline_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline"
)

// expectation is what the reference implementation reads from the fixture.
type expectation struct {
	Events           []json.RawMessage `json:"events"`
	Tail7            []json.RawMessage `json:"tail7"`
	LastHumanSendVia *string           `json:"lastHumanSendVia"`
}

func reference(t *testing.T) (dir string, want expectation) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "ref-1")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "reference-session"))); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join("testdata", "reference-session.expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	return dir, want
}

// sameJSON compares events with what the reference shows of them. The order of the
// fields and the characters must be the same; the space between is not.
func sameJSON(t *testing.T, what string, got []timeline.Event, want []json.RawMessage) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: got %d events, want %d", what, len(got), len(want))
	}
	for i, e := range got {
		var compact bytes.Buffer
		if err := json.Compact(&compact, want[i]); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(e.JSON(), compact.Bytes()) {
			t.Errorf("%s: event %d: got %s, want %s", what, i, e.JSON(), &compact)
		}
	}
}

func TestReadsTheReference(t *testing.T) {
	dir, want := reference(t)
	l := buffered(t, dir, 0)
	sameJSON(t, "All", all(t, l), want.Events)
	page, err := l.Tail(t.Context(), 7)
	if err != nil || len(page.Bad) > 0 {
		t.Fatalf("Tail: %v, %v", err, page.Bad)
	}
	sameJSON(t, "Tail", page.Events, want.Tail7)

	h, ok, err := l.LastHuman(t.Context())
	via := ""
	if want.LastHumanSendVia != nil {
		via = *want.LastHumanSendVia
	}
	if wantVia := (timeline.Event{ReplyVia: timeline.Channel(via)}).Via(); err != nil || !ok || h.Via != wantVia {
		t.Errorf("LastHuman: got %+v, %v, %v, want %s", h, ok, err, wantVia)
	}
	if owed, err := l.Owed(t.Context()); err != nil || len(owed) > 0 {
		t.Errorf("Owed: got %v, %v: lines of another writer prove no debt", owed, err)
	}
}

// Every keyed message of the fixture is found by its request, with its settlement.
func TestFindsReceiptsOfTheReference(t *testing.T) {
	dir, _ := reference(t)
	l := buffered(t, dir, 0)
	settled := map[string]bool{}
	for _, raw := range fixtureLines(t) {
		var x struct{ Kind, MID string }
		if err := json.Unmarshal(raw, &x); err != nil {
			t.Fatal(err)
		}
		if x.Kind == "dispatch-settled" {
			settled[x.MID] = true
		}
	}
	n := 0
	for _, raw := range fixtureLines(t) {
		d, err := timeline.DecodeLine(raw)
		if err != nil {
			t.Fatal(err)
		}
		if d.Sent.Receipt == nil {
			continue
		}
		n++
		f, ok, err := l.Receipt(t.Context(), d.Sent.Receipt.Operation, d.Sent.Receipt.RequestDigest)
		if err != nil || !ok || !reflect.DeepEqual(f.Sent, d.Sent) || f.Settled != settled[d.Sent.MID] {
			t.Errorf("%s: got %+v, %v, %v, want %+v, settled %v", d.Sent.MID, f, ok, err, d.Sent, settled[d.Sent.MID])
		}
	}
	if n == 0 || len(settled) == 0 || len(settled) == n {
		t.Fatalf("the fixture has %d receipts and %d settlements", n, len(settled))
	}
	if _, ok, err := l.Receipt(t.Context(), "merge", "no such digest"); ok || err != nil {
		t.Errorf("unknown request: got %v, %v", ok, err)
	}
}

// What docket appends, the reference reads, and nothing before it changes.
func TestAppendsToTheReference(t *testing.T) {
	dir, want := reference(t)
	for _, l := range []*timeline.Log{buffered(t, dir, 0), buffered(t, dir, 2000)} {
		end, err := l.End(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			keyed := message(i)
			keyed.Receipt = &timeline.Receipt{Operation: "merge", RequestDigest: keyed.MID, PayloadHash: "x", Delivery: timeline.Delivery{Text: "go"}}
			appendAll(t, l, keyed, timeline.Status{Status: "asking", Note: "é\u2028\n"}, timeline.Settled{MID: keyed.MID})
		}
		for e, err := range l.From(t.Context(), end) {
			if err != nil {
				t.Fatal(err)
			}
			want.Events = append(want.Events, e.JSON())
		}
	}
	sameJSON(t, "All", all(t, buffered(t, dir, 0)), want.Events)
	got := tolerantRead(t, dir)
	if len(got) != len(want.Events) {
		t.Fatalf("the reference's rules: got %d events, want %d", len(got), len(want.Events))
	}
	for i, e := range got {
		var w map[string]any
		if err := json.Unmarshal(want.Events[i], &w); err != nil {
			t.Fatal(err)
		}
		for name, value := range w {
			if !reflect.DeepEqual(e[name], value) {
				t.Errorf("event %d, %s: got %v, want %v", i, name, e[name], value)
			}
		}
	}
}

// tolerantRead reads a session by the reference's rules: the legacy file and then
// the numbered ones, line by line, what does not parse and what has an unknown
// kind left out, fields that it does not know ignored.
func tolerantRead(t *testing.T, dir string) (events []map[string]any) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "timeline", "*.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(paths)
	for _, path := range append([]string{filepath.Join(dir, "timeline.ndjson")}, paths...) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range bytes.Split(raw, []byte("\n")) {
			var e map[string]any
			if json.Unmarshal(line, &e) != nil || e["kind"] != "status" && e["kind"] != "sent" {
				continue
			}
			events = append(events, e)
		}
	}
	return events
}

// The log of a writer that knows no segments is gone on with, whatever it ends in.
func TestLogWithoutDirectory(t *testing.T) {
	const line = `{"ts":"2026-11-30T09:30:15.780Z","kind":"status","status":"active","proposal":null,"note":null}` + "\n"
	for name, legacy := range map[string]string{"lines": line + line, "a torn one": line + line[:20], "nothing": ""} {
		for _, isBuffered := range []bool{false, true} {
			dir := newDir(t)
			must(t, os.WriteFile(filepath.Join(dir, "timeline.ndjson"), []byte(legacy), 0o600))
			l, err := timeline.Open(dir, timeline.Options{Buffered: isBuffered})
			must(t, err)
			defer l.Close()
			want := uint64(strings.Count(legacy, "\n"))
			if w, err := l.Append(t.Context(), timeline.Status{Status: "idle"}); err != nil || w.FirstSeq != want {
				t.Errorf("%s, buffered %v: got %+v, %v, want sequence %d", name, isBuffered, w, err, want)
			}
			page, err := l.Tail(t.Context(), 10)
			if err != nil || uint64(len(page.Events)) != want+1 {
				t.Errorf("%s, buffered %v: got %+v, %v", name, isBuffered, page, err)
			}
		}
	}
}
