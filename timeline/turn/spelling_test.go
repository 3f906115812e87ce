package turn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/turn"
)

// An event has one spelling. Every other one is refused, also where JSON says that it
// means the same.
func TestSpellingIsOne(t *testing.T) {
	text := string(turn.Encode(turn.Event{Time: now, Turn: "1-a", Native: provenance, Payload: turn.Text{Text: "a/b\n"}}))
	started := string(turn.Encode(turn.Event{Time: now, Turn: "1-a", Payload: turn.Started{Token: "t", Attributes: map[string]string{"a": "1", "b": "2"}}}))
	ended := strings.TrimSuffix(text, "}") + `,"crc":"00c0ffee","seq":7}`
	for _, right := range []string{text, started, ended} {
		if _, err := turn.Decode([]byte(right)); err != nil {
			t.Errorf("%s: got %v", right, err)
		}
	}
	for _, tt := range []struct{ name, in, old, new string }{
		{"escape of a letter", text, "a/b", `\u0061/b`},
		{"escape of a slash", text, "a/b", `a\/b`},
		{"long escape", text, `\n`, `\u000a`},
		{"escape in capitals", text, `\n`, `\u001F`},
		{"control character as it is", text, `\n`, "\x02"},
		{"not UTF-8", text, "a/b", "\xff"},
		{"turn that is not UTF-8", text, "1-a", "1-\xff"},
		{"half a pair", text, "a/b", `\ud800`},
		{"space", text, `"v":1`, `"v": 1`},
		{"space behind", text, `}}`, `}} `},
		{"two objects", text, `}}`, `}}{}`},
		{"number with a zero in front", text, `"broker":7`, `"broker":07`},
		{"number with a sign", text, `"broker":7`, `"broker":+7`},
		{"number that is none", text, `"broker":7`, `"broker":`},
		{"number too large", text, `"broker":7`, `"broker":18446744073709551616`},
		{"broker zero", text, `"broker":7`, `"broker":0`},
		{"empty field of native", text, `"item":"i"`, `"item":""`},
		{"native in another order", text, `"turn":"t","item":"i"`, `"item":"i","turn":"t"`},
		{"native empty", text, `{"provider":"acp","session":"s","turn":"t","item":"i","broker":7}`, `{}`},
		{"empty turn", text, `"turn":"1-a"`, `"turn":""`},
		{"another name in capitals", text, `"text":"a`, `"TEXT":"a`},
		{"time with a comma", text, "15.780Z", "15,780Z"},
		{"time in another zone", text, "15.780Z", "15.780+00:00"},
		{"empty token", started, `"token":"t"`, `"token":""`},
		{"attributes in another order", started, `"a":"1","b":"2"`, `"b":"2","a":"1"`},
		{"attribute twice", started, `"a":"1","b":"2"`, `"a":"1","a":"2"`},
		{"attributes empty", started, `{"a":"1","b":"2"}`, `{}`},
		{"short checksum", ended, "00c0ffee", "00c0ffe"},
		{"checksum in capitals", ended, "00c0ffee", "00C0FFEE"},
		{"sequence with a zero in front", ended, `"seq":7`, `"seq":07`},
		{"no sequence", ended, `,"seq":7`, ``},
	} {
		line := strings.Replace(tt.in, tt.old, tt.new, 1)
		if line == tt.in {
			t.Fatalf("%s: nothing to change in %s", tt.name, line)
		}
		if e, err := turn.Decode([]byte(line)); !errors.Is(err, turn.ErrInvalid) {
			t.Errorf("%s: %s: got %+v, %v, want %v", tt.name, line, e, err, turn.ErrInvalid)
		}
	}
	for cut := range len(ended) {
		if _, err := turn.Decode([]byte(ended[:cut])); err == nil {
			t.Errorf("%s is read", ended[:cut])
		}
	}
}
