package turn_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/turn"
)

// payloads has one payload of each kind, with something in every field.
var payloads = []turn.Payload{
	turn.Started{MID: "m1", Token: "tok", Attributes: map[string]string{"b": "2", "a": "1"}},
	turn.Text{Text: "é漢🎉\u2028<&>\x00\x1f\x7f\"\\\n\r\t"},
	turn.Thought{Text: "hm"},
	turn.Tool{ID: "c1", Title: "run", Class: "execute", Status: turn.ToolRunning},
	turn.Permission{ID: "p1", Title: "write x", Options: []string{"yes", "no"}, State: turn.PermissionAsked},
	turn.Usage{Input: 1, Cached: 2, Output: 3, Reasoning: 4, Total: 1<<64 - 1},
	turn.ResultObserved{Text: "42"},
	turn.Diagnostic{Severity: turn.SeverityWarning, Code: "rate_limited", Text: "wait"},
	turn.State{Name: "model", Value: "small"},
	turn.Finished{Outcome: turn.Interrupted, Code: turn.CodeRuntimeRestart, Diagnostic: "gone"},
}

var provenance = turn.Native{Provider: "acp", Session: "s", Turn: "t", Item: "i", Broker: 7}

// Every kind of event is read as it was written, with and without what may be empty.
func TestEventsRoundTrip(t *testing.T) {
	for _, p := range payloads {
		empty := reflect.New(reflect.TypeOf(p)).Elem().Interface().(turn.Payload)
		for _, want := range []turn.Event{
			{Time: now, Turn: "1-a", Native: provenance, Payload: p}, {Time: now, Payload: p}, {Time: now, Payload: empty, Native: turn.Native{Item: "i"}},
		} {
			raw := turn.Encode(want)
			got, err := turn.Decode(raw)
			if turn.CheckPayload(none, want.Payload, -1) != nil { // it must have something
				if err == nil {
					t.Errorf("%s was read, and cannot be written", raw)
				}
				continue
			}
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v, %v, want %+v", raw, got, err, want)
			}
			if turn.Schema.Classify(raw) != segment.Public {
				t.Errorf("%s is not public", raw)
			}
		}
	}
}

// FuzzLine finds that nothing but the one form of an event is taken for it, and that
// what is taken is a JSON object with the fields that it should have.
func FuzzLine(f *testing.F) {
	for _, p := range payloads {
		raw := turn.Encode(turn.Event{Time: now, Turn: "1-a", Native: provenance, Payload: p})
		f.Add(raw)
		f.Add(append(raw[:len(raw)-1:len(raw)-1], `,"crc":"00c0ffee","seq":7}`...))
	}
	f.Add([]byte(`{"ts":"2026-11-30T09:30:15.780Z","kind":"telepathy","v":1}`))
	f.Add([]byte(`{"kind":"text","v":2,"ts":""}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		class := turn.Schema.Classify(raw)
		turn.Schema.Key(raw)
		e, err := turn.Decode(raw)
		if err != nil {
			return
		}
		if class != segment.Public {
			t.Fatalf("%q is read, and is %v", raw, class)
		}
		form := turn.Encode(e)
		if !bytes.HasPrefix(raw, form[:len(form)-1]) || !json.Valid(raw) || !utf8.Valid(raw) {
			t.Fatalf("%q is taken for %q", raw, form)
		}
		if err := turn.CheckPayload(e.Native, e.Payload, -1); err != nil {
			t.Fatalf("%q is read, and cannot be written: %v", raw, err)
		}
		again, err := turn.Decode(form)
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("%q: got %+v, %v, want %+v", form, again, err, e)
		}
		shown, err := turn.Decode(e.JSON())
		if err != nil {
			t.Fatalf("shown as %q: %v", e.JSON(), err)
		}
		if s, ok := shown.Payload.(turn.Started); ok && s.Token != "" {
			t.Fatalf("the token %q is shown", s.Token)
		}
	})
}

// FuzzRoundTrip writes an event of any texts, as far as they can be stored, and reads
// it back, by this package and by encoding/json.
func FuzzRoundTrip(f *testing.F) {
	f.Add("run", "m1", "tok", "k", "acp", uint64(7), int64(1))
	f.Add("\u2028\x00\"\\/\b", "é", "", "", "", uint64(0), int64(1<<40))
	f.Fuzz(func(t *testing.T, text, mid, token, attr, provider string, broker uint64, ms int64) {
		n := turn.Native{Provider: provider, Broker: broker}
		at := time.UnixMilli(ms & (1<<47 - 1)).UTC()
		if at.Year() > 9999 {
			return
		}
		for _, p := range []turn.Payload{
			turn.Started{MID: mid, Token: token, Attributes: map[string]string{attr: text}},
			turn.Text{Text: text}, turn.Permission{ID: mid, Title: text, Options: []string{attr, token}, State: turn.PermissionDenied},
			turn.Finished{Outcome: turn.Failure, Code: mid, Diagnostic: text}, turn.State{Name: mid, Value: text},
		} {
			if turn.CheckPayload(n, p, -1) != nil {
				continue
			}
			want := turn.Event{Time: at, Turn: "1-a", Native: n, Payload: p}
			raw := turn.Encode(want)
			got, err := turn.Decode(raw)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%q: got %+v, %v, want %+v", raw, got, err, want)
			}
			var fields map[string]any
			if err := json.Unmarshal(raw, &fields); err != nil || bytes.ContainsAny(raw, "\n\r\x00") {
				t.Fatalf("%q: %v", raw, err)
			}
			if s, ok := fields["text"].(string); ok && s != text {
				t.Fatalf("encoding/json reads %q, want %q", s, text)
			}
		}
	})
}

// The union has these fields and no others: there is no place for a raw frame, the
// output of a tool or the details of a permission. Who adds one decides that it may
// become durable.
func TestUnionHasNoPlaceForRawFrames(t *testing.T) {
	want := map[string][]string{
		"Started": {"MID", "Attributes", "Token"}, "Text": {"Text"}, "Thought": {"Text"},
		"Tool": {"ID", "Title", "Class", "Status"}, "Permission": {"ID", "Title", "Options", "State"},
		"Usage": {"Input", "Cached", "Output", "Reasoning", "Total"}, "ResultObserved": {"Text"},
		"Diagnostic": {"Severity", "Code", "Text"}, "State": {"Name", "Value"}, "Finished": {"Outcome", "Code", "Diagnostic"},
		"Native": {"Provider", "Session", "Turn", "Item", "Broker"},
	}
	types := []reflect.Type{reflect.TypeOf(none)}
	for _, p := range payloads {
		types = append(types, reflect.TypeOf(p))
	}
	for _, typ := range types {
		var got []string
		for i := range typ.NumField() {
			got = append(got, typ.Field(i).Name)
		}
		if !reflect.DeepEqual(got, want[typ.Name()]) {
			t.Errorf("%s has the fields %v, want %v", typ.Name(), got, want[typ.Name()])
		}
	}
	if len(types) != len(want) {
		t.Errorf("got %d types, want %d", len(types), len(want))
	}
}
