package timeline_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/segment"
)

// now is the clock of the tests.
var now = time.Date(2026, 11, 30, 9, 30, 15, 780_000_000, time.UTC)

// The stored lines are those of the reference implementation, byte for byte, and
// docket's own fields stand behind them.
func TestStoredLines(t *testing.T) {
	receipt := &timeline.Receipt{Operation: "merge", RequestDigest: "f1", PayloadHash: "a9", Delivery: timeline.Delivery{Text: "go\n\n— hint"}}
	const ts = `{"ts":"2026-11-30T09:30:15.780Z",`
	for _, tt := range []struct {
		name  string
		entry timeline.Entry
		want  string
	}{
		{"status with everything", timeline.Status{Status: "awaiting", Proposal: "merge", Note: "a\nb"},
			ts + `"kind":"status","status":"awaiting","proposal":"merge","note":"a\nb"}`},
		{"status without proposal and note", timeline.Status{Status: "active"},
			ts + `"kind":"status","status":"active","proposal":null,"note":null}`},
		{"time of another zone", timeline.Status{Status: "active", Time: now.In(time.FixedZone("", 3600))},
			ts + `"kind":"status","status":"active","proposal":null,"note":null}`},
		{"message of a human", timeline.Sent{MID: "m1", Text: "run <it> & see"},
			ts + `"kind":"sent","mid":"m1","text":"run <it> & see","from":null,"docket":{}}`},
		{"message without a debt", timeline.Sent{MID: "m1", Text: "go", NoDebt: true, Delivered: "not stored"},
			ts + `"kind":"sent","mid":"m1","text":"go","from":null}`},
		{"terminal is not stored", timeline.Sent{MID: "m1", Text: "go", From: "lead", ReplyVia: timeline.Terminal, Delivered: "go"},
			ts + `"kind":"sent","mid":"m1","text":"go","from":"lead","docket":{}}`},
		{"note, composed text and attributes", timeline.Sent{MID: "m1", Text: "go", ReplyVia: timeline.Note, Delivered: "go\n\nhint", Attributes: map[string]string{"b": "2", "a": "1"}},
			ts + `"kind":"sent","mid":"m1","text":"go","from":null,"replyVia":"note","docket":{"delivered":"go\n\nhint","attributes":{"a":"1","b":"2"}}}`},
		{"attributes alone", timeline.Sent{MID: "m1", Text: "go", Attributes: map[string]string{"a": ""}},
			ts + `"kind":"sent","mid":"m1","text":"go","from":null,"docket":{"attributes":{"a":""}}}`},
		{"keyed message", timeline.Sent{MID: "m1", Text: "go", ReplyVia: timeline.Note, Receipt: receipt, Delivered: "go\n\n— hint"},
			ts + `"kind":"sent","mid":"m1","text":"go","from":null,"replyVia":"note","dispatchReceipt":{"operation":"merge","requestDigest":"f1","payloadHash":"a9","delivery":{"text":"go\n\n— hint","from":null}},"docket":{}}`},
		{"life of the sender", timeline.Sent{MID: "m1", Text: "go", From: "lead", FromLife: 1<<64 - 1, Delivered: "go!"},
			ts + `"kind":"sent","mid":"m1","text":"go","from":"lead","docket":{"delivered":"go!","fromLife":18446744073709551615}}`},
		{"life of a keyed message's sender", timeline.Sent{MID: "m1", Text: "go", From: "lead", FromLife: 3, Receipt: receipt},
			ts + `"kind":"sent","mid":"m1","text":"go","from":"lead","dispatchReceipt":{"operation":"merge","requestDigest":"f1","payloadHash":"a9","delivery":{"text":"go\n\n— hint","from":null}},"docket":{"fromLife":3}}`},
		{"settlement", timeline.Settled{MID: "m1"},
			ts + `"kind":"dispatch-settled","mid":"m1"}`},
		{"keyed settlement", timeline.Settled{MID: "m1", Operation: "merge", RequestDigest: "f1"},
			ts + `"kind":"dispatch-settled","operation":"merge","requestDigest":"f1","mid":"m1"}`},
		{"revocation", timeline.Revoked{MID: "m1", Reason: "obsolete"},
			ts + `"kind":"dispatch-revoked","mid":"m1","reason":"obsolete"}`},
		{"characters", timeline.Status{Status: "s", Note: "\" \\ / \b\f\n\r\t \x01\x1f\x7f \u2028\u2029 é漢🎉"},
			ts + `"kind":"status","status":"s","proposal":null,"note":"\" \\ / \b\f\n\r\t \u0001\u001f` + "\x7f \u2028\u2029 é漢🎉" + `"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := timeline.EncodeEntry(tt.entry, now)
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
			if !json.Valid(got) {
				t.Error("got a line that encoding/json refuses")
			}
		})
	}
}

func TestDecodeKeepsWhatItCan(t *testing.T) {
	for _, tt := range []struct {
		name, line string
		class      segment.Class
		want       string // the event, in short
	}{
		{"missing fields read as null", `{"kind":"sent"}`, segment.Public, `sent "" "" "" ""`},
		{"unknown fields and other order", `{"x":[{}],"text":"go","kind":"sent","mid":"m"}`, segment.Public, `sent "m" "go" "" ""`},
		{"space between", " {\t\"kind\" : \"sent\" , \"text\":\"go\" } \r", segment.Public, `sent "" "go" "" ""`},
		{"escaped names", `{"\u006bind":"s\u0065nt","te\u0078t":"go"}`, segment.Public, `sent "" "go" "" ""`},
		{"the last of a name counts", `{"kind":"sent","text":1,"text":"go","kind":"sent"}`, segment.Public, `sent "" "go" "" ""`},
		{"case of names matters", `{"kind":"sent","Text":"no","TEXT":1}`, segment.Public, `sent "" "" "" ""`},
		{"lone surrogate", `{"kind":"sent","text":"a\ud800b\udc00\ud83c\udf89"}`, segment.Public, "sent \"\" \"a\ufffdb\ufffd🎉\" \"\" \"\""},
		{"stray bytes", "{\"kind\":\"sent\",\"text\":\"a\xffb\"}", segment.Public, "sent \"\" \"a\ufffdb\" \"\" \"\""},
		{"escaped NUL", `{"kind":"sent","text":"a\u0000b"}`, segment.Public, `sent "" "a\x00b" "" ""`},
		{"odd channel", `{"kind":"sent","replyVia":"phone"}`, segment.Public, `sent "" "" "" "phone"`},
		{"unknown kind", `{"kind":"future-kind","text":5}`, segment.Private, ""},
		{"private kind", `{"kind":"dispatch-settled","mid":"m"}`, segment.Private, ""},
		{"no kind", `{"text":"go"}`, segment.Unreadable, ""},
		{"kind of another type", `{"kind":7}`, segment.Unreadable, ""},
		{"text of another type", `{"kind":"sent","text":{"a":1}}`, segment.Unreadable, ""},
		{"note of another type", `{"kind":"status","note":true}`, segment.Unreadable, ""},
		{"not an object", `["kind","sent"]`, segment.Unreadable, ""},
		{"nothing", ``, segment.Unreadable, ""},
		{"NUL bytes", "\x00\x00\x00", segment.Unreadable, ""},
		{"raw control byte", "{\"kind\":\"sent\",\"text\":\"a\x00b\"}", segment.Unreadable, ""},
		{"cut off", `{"kind":"sent","text":"go`, segment.Unreadable, ""},
		{"glued to the next", `{"ts":"2026-11-30T09:30:15.780Z","kind":"sent","te{"ts":"2026-11-30T09:30:15.780Z","kind":"sent","text":"go"}`, segment.Unreadable, ""},
		{"two objects", `{"kind":"sent"}{"kind":"sent"}`, segment.Unreadable, ""},
		{"trailing comma", `{"kind":"sent",}`, segment.Unreadable, ""},
		{"nested too deeply", `{"kind":"sent","x":` + strings.Repeat("[", 1<<20), segment.Unreadable, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := timeline.DecodeLine([]byte(tt.line))
			if d.Class != tt.class || (err != nil) != (tt.class == segment.Unreadable) {
				t.Fatalf("got %v, %v, want %v", d.Class, err, tt.class)
			}
			if e := d.Event; tt.class == segment.Public {
				if got := fmt.Sprintf("%s %q %q %q %q", e.Kind, e.MID, e.Text, e.From, e.ReplyVia); got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
			}
			if got := timeline.Schema.Classify([]byte(tt.line)); got != tt.class {
				t.Errorf("Classify: got %v, want %v", got, tt.class)
			}
		})
	}
}

// Every byte at every place of a string is read as encoding/json reads it.
func TestStringsByteByByte(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			words := []byte(strings.Repeat("a", 20))
			words[at] = byte(c)
			raw := fmt.Appendf(nil, `{"kind":"sent","text":"%s"}`, words)
			d, err := timeline.DecodeLine(raw)
			if want := classOf(raw); d.Class != want {
				t.Fatalf("%q: got %v, %v, want %v", raw, d.Class, err, want)
			}
			if err == nil {
				comparePublic(t, raw, d.Event)
			}
		}
	}
}

// Every ASCII byte at every place of a string, alone and beside another one that is
// escaped, is written as encoding/json writes it.
func TestWrittenByteByByte(t *testing.T) {
	for c := range byte(0x80) {
		for at := range 20 {
			for other := range 20 {
				text := []byte(strings.Repeat("é", 10))
				text = append(text[:at:at], strings.Repeat("a", 20-at)...)
				text[other], text[at] = '"', c
				whole := strings.ToValidUTF8(string(text), "-")
				var want strings.Builder
				e := json.NewEncoder(&want)
				e.SetEscapeHTML(false)
				if err := e.Encode(whole); err != nil {
					t.Fatal(err)
				}
				line, _ := timeline.EncodeEntry(timeline.Status{Status: whole}, now)
				_, got, _ := strings.Cut(string(line), `"kind":"status","status":`)
				got, _, _ = strings.Cut(got, `,"proposal":`)
				if got != strings.TrimSuffix(want.String(), "\n") {
					t.Fatalf("%q: got %s, want %s", whole, got, want.String())
				}
			}
		}
	}
}

func TestJSONHidesWhatIsPrivate(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"at the end", `{"kind":"sent","text":"go","dispatchReceipt":{"operation":"x"},"docket":{},"seq":7}`, `{"kind":"sent","text":"go"}`},
		{"in front and between", `{"docket":{"delivered":"}"},"kind":"sent","seq":1,"new":[1, 2]}`, `{"kind":"sent","new":[1, 2]}`},
		{"twice, and with escapes", `{"seq":1,"d\u006fcket":1,"docket":2,"kind":"sent","\u0073eq":3}`, `{"kind":"sent"}`},
		{"of the same name deeper", `{"kind":"sent","x":{"docket":1,"seq":2}}`, `{"kind":"sent","x":{"docket":1,"seq":2}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := timeline.DecodeLine([]byte(tt.line))
			if got := string(d.Event.JSON()); err != nil || got != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
	made := timeline.Event{Kind: timeline.KindSent, Time: now, MID: "m1", Text: "go", ReplyVia: timeline.Note}
	want := `{"ts":"2026-11-30T09:30:15.780Z","kind":"sent","mid":"m1","text":"go","from":null,"replyVia":"note"}`
	if got := string(made.JSON()); got != want {
		t.Errorf("an event that was made: got %s, want %s", got, want)
	}
}

func TestEntriesThatCannotBeStored(t *testing.T) {
	big := strings.Repeat("x", timeline.DefaultMaxTextBytes+1)
	for _, tt := range []struct {
		name  string
		entry timeline.Entry
		want  error
	}{
		{"text not UTF-8", timeline.Sent{MID: "m", Text: "a\xff"}, timeline.ErrText},
		{"text with a NUL", timeline.Sent{MID: "m", Text: "a\x00"}, timeline.ErrText},
		{"surrogate half in UTF-8", timeline.Sent{MID: "m", Text: "\xed\xa0\x80"}, timeline.ErrText},
		{"attribute not UTF-8", timeline.Sent{MID: "m", Attributes: map[string]string{"a": "\xff"}}, timeline.ErrText},
		{"attribute name with a NUL", timeline.Sent{MID: "m", Attributes: map[string]string{"\x00": ""}}, timeline.ErrText},
		{"reason with a NUL", timeline.Revoked{MID: "m", Reason: "\x00"}, timeline.ErrText},
		{"text too large", timeline.Sent{MID: "m", Text: big}, timeline.ErrTooLarge},
		{"note too large", timeline.Status{Status: "s", Note: big}, timeline.ErrTooLarge},
		{"attributes together too large", timeline.Sent{MID: "m", Attributes: map[string]string{"a": big[:len(big)/2], "b": big[:len(big)/2]}}, timeline.ErrTooLarge},
		{"mid too long", timeline.Sent{MID: strings.Repeat("m", 1025)}, timeline.ErrTooLarge},
		{"no mid", timeline.Sent{Text: "go"}, timeline.ErrEntry},
		{"settlement of nothing", timeline.Settled{}, timeline.ErrEntry},
		{"half a key", timeline.Settled{MID: "m", Operation: "merge"}, timeline.ErrEntry},
		{"receipt without a digest", timeline.Sent{MID: "m", Receipt: &timeline.Receipt{Operation: "merge"}}, timeline.ErrEntry},
		{"odd channel", timeline.Sent{MID: "m", ReplyVia: "phone"}, timeline.ErrEntry},
		{"year of five digits", timeline.Status{Status: "s", Time: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)}, timeline.ErrEntry},
		{"largest text", timeline.Sent{MID: "m", Text: big[1:]}, nil},
		{"insert behind the largest text", timeline.Sent{MID: "m", Text: big[1:], Delivered: big + " hint"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := timeline.EncodeEntry(tt.entry, now); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}
