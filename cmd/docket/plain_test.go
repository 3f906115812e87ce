package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestPlain(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"text stays", "ünï 漢字 🎉\n\ttab", "ünï 漢字 🎉\n\ttab"},
		{"escape sequences", "\x1b[31mred", `\x1b[31mred`},
		{"carriage return, bell and backspace", "a\rb\ac\b", `a\rb\ac\b`},
		{"delete and C1 controls", "\x7f\u009b", `\x7f\u009b`},
		{"writing direction", "a\u202eb\u2066c\u200fd", `a\u202eb\u2066c\u200fd`},
		{"line separators", "a\u2028b", `a\u2028b`},
		{"bytes that are no text", "a\xffb", `a\xffb`},
		{"the replacement character is text", "a\ufffdb", "a\ufffdb"},
		{"what shows nothing", "a\u200bb\u2060c\ufeffd\u00ade\u3164", `a\u200bb\u2060c\ufeffd\u00ade\u3164`},
		{"tags, which can spell a whole text", "a\U000e0001\U000e0041\U000e007f", `a\U000e0001\U000e0041\U000e007f`},
		{"joiners inside a word or an emoji stay", "می\u200cخواهم क्\u200dष 👩\u200d🚀 ❤\ufe0f\u200d🔥", "می\u200cخواهم क्\u200dष 👩\u200d🚀 ❤\ufe0f\u200d🔥"},
		{"other joiners do not", "\u200da \u200d b\u200c\u200dc1\u200d2", `\u200da \u200d b\u200c\u200dc1\u200d2`},
		{"a selector behind its character stays", "❤\ufe0f 1\ufe0f\u20e3 葛\U000e0100", "❤\ufe0f 1\ufe0f\u20e3 葛\U000e0100"},
		{"other selectors do not", "\ufe0fa\ufe01\ufe02 \ufe03b\U000e0101\U000e0102", `\ufe0fa` + "\ufe01" + `\ufe02 \ufe03b` + "\U000e0101" + `\U000e0102`},
		{"signs above numbers are shown", "\u0600123 \u06dd", "\u0600123 \u06dd"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := plain(tt.text); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// hostileText draws texts of bytes, and of characters that are not harmless.
func hostileText() *rapid.Generator[string] {
	odd := []rune("a1 \n\r\t\x1b\x7f\u009b\u200b\u200c\u200d\u200e\u2028\u2060\u2066\ufe0f\ufeff\ufffd\u3164\u0600क्❤🚀\U000e0041\U000e0100\\\"")
	return rapid.OneOf(
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.StringOf(rapid.SampledFrom(odd)),
	)
}

// Nothing that plain returns acts on a terminal, shown again it is the same, and
// oneLine keeps to its line.
func TestPlainNeverActs(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := hostileText().Draw(rt, "text")
		for _, shown := range []string{plain(text), oneLine(text)} {
			if !utf8.ValidString(shown) {
				rt.Fatalf("%q is not UTF-8", shown)
			}
			if acting := raw(shown); acting != "" {
				rt.Fatalf("%q holds %q", shown, acting)
			}
			if again := plain(shown); again != shown {
				rt.Fatalf("%q is shown as %q in the end", shown, again)
			}
		}
		if strings.Contains(oneLine(text), "\n") {
			rt.Fatalf("%q is more than one line", oneLine(text))
		}
	})
}

// Nothing in a line of JSON acts on a terminal, and it means what it meant.
func TestEscape(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.ToValidUTF8(hostileText().Draw(rt, "text"), "?")
		line, err := encode(map[string]string{text: text})
		if err != nil {
			rt.Fatal(err)
		}
		shown := escape([]byte(strings.Replace(string(line), "{", "{\r ", 1)))
		if acting := raw(string(shown)); acting != "" || strings.ContainsAny(string(shown), "\n\r\t") {
			rt.Fatalf("%q holds %q", shown, acting)
		}
		var got map[string]string
		if err := json.Unmarshal(shown, &got); err != nil || len(got) != 1 || got[text] != text {
			rt.Fatalf("%q is read as %q (%v), want %q", shown, got, err, text)
		}
	})
	for _, tt := range []struct{ name, line, want string }{
		{"above the basic plane a pair", "\"\U000e0041\"", `"\udb40\udc41"`},
		{"bytes that are no text", "\"a\xff\"", `"a\ufffd"`},
		{"text stays", `{"a":"ünï 漢字 🎉"}`, `{"a":"ünï 漢字 🎉"}`},
	} {
		if got := string(escape([]byte(tt.line))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// So do the lines of serve.
func TestLogLinesNeverAct(t *testing.T) {
	text := "\x7f\u009b\u202e\u200b\u2028\U000e0041\x1b[2J"
	for _, json := range []bool{true, false} {
		var out bytes.Buffer
		c := flagless(&out)
		c.report, c.out.json = &reporter{w: &out}, json
		slog.New(c.logHandler()).Info(text, "why"+text, text, "error", errors.New(text), "alone", "\x7f")
		if acting := raw(out.String()); acting != "" || out.Len() == 0 {
			t.Errorf("json %v: %q holds %q", json, &out, acting)
		}
	}
}

// raw returns what of an output would act on a terminal, or shows nothing whatever
// stands around it.
func raw(output string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\u200c', r == '\u200d', unicode.Is(unicode.Prepended_Concatenation_Mark, r):
			return -1
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point):
			return r
		}
		return -1
	}, output)
}
