package main

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	nonJoiner = '\u200c' // between letters that would be joined
	joiner    = '\u200d' // between the parts of one letter or emoji
)

// plain makes everything visible that would act on a terminal, change the order of
// what is read, or hide text in it: control characters other than newline and tab,
// marks of writing direction, characters that show nothing, and bytes that are no
// text. Joiners inside a word and one selector behind what it selects a form of stay,
// as many languages and emoji are written with them.
func plain(s string) string {
	if !strings.ContainsFunc(s[tame(s):], suspicious) {
		return s
	}
	return string(spell([]byte(s), inWords))
}

// escape is plain for a line of JSON: what it returns decodes to the same value.
func escape(line []byte) []byte {
	if !bytes.ContainsFunc(line[tame(line):], func(r rune) bool { return r == '\r' || suspicious(r) }) {
		return line
	}
	return spell(line, inJSON)
}

// tame returns how many bytes text starts with that are printable ASCII or spaces:
// most texts are nothing else.
func tame[T string | []byte](text T) int {
	n := 0
	for n < len(text) && (text[n]-' ' <= '~'-' ' || text[n] == '\n' || text[n] == '\t') { // below ' ' it wraps around
		n++
	}
	return n
}

// spell returns text with the answer of with in the place of each character that must
// not be written as it is. A byte that is no text is given as [utf8.RuneError].
func spell(text []byte, with func(r rune, raw []byte) string) []byte {
	spelt := make([]byte, 0, len(text)+len(text)/8)
	before := rune(0) // as it is shown; 0 behind what is spelt
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		after, _ := utf8.DecodeRune(text[size:])
		if noText := r == utf8.RuneError && size == 1; noText || acts(r) || hides(before, r, after) {
			spelt, before = append(spelt, with(r, text[:size])...), 0
		} else {
			spelt, before = append(spelt, text[:size]...), r
		}
		text = text[size:]
	}
	return spelt
}

func inWords(r rune, raw []byte) string {
	if r == utf8.RuneError {
		return fmt.Sprintf(`\x%02x`, raw[0])
	}
	return strings.Trim(strconv.QuoteToASCII(string(r)), `"`)
}

// inJSON relies on that all that acts stands inside a string, but for the carriage
// return, which may be a blank between tokens and never is in a string.
func inJSON(r rune, _ []byte) string {
	if r == '\r' {
		return " "
	}
	if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// suspicious reports whether r is one that must be looked at more closely.
func suspicious(r rune) bool {
	return r == utf8.RuneError || acts(r) || r == joiner || r == nonJoiner || selects(r)
}

// acts reports whether a terminal does something at r, or shows nothing for it,
// whatever stands around it.
func acts(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == joiner, r == nonJoiner:
		return false
	case r < utf8.RuneSelf:
		return unicode.IsControl(r)
	case r == '\u2028', r == '\u2029':
		return true
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // signs that are shown, above numbers
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
}

// hides reports whether r, which shows nothing by itself, does nothing either for the
// characters around it.
func hides(before, r, after rune) bool {
	switch {
	case r == joiner, r == nonJoiner:
		return !joinable(before) || !joinable(after) || selects(after)
	case selects(r):
		return !unicode.IsGraphic(before) || unicode.IsSpace(before) || selects(before)
	}
	return false
}

// joinable reports whether r can be part of a letter or an emoji.
func joinable(r rune) bool {
	return r != utf8.RuneError && !acts(r) && unicode.In(r, unicode.L, unicode.M, unicode.S)
}

// selects reports whether r selects a form of the character before it.
func selects(r rune) bool { return unicode.Is(unicode.Variation_Selector, r) }

// oneLine is plain for text that must stay on its line.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\n\r") {
		return plain(s)
	}
	return plain(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), "; "))
}

// indent puts before in front of every line of s.
func indent(s, before string) string {
	return string(appendIndented(nil, s, before))
}

func appendIndented(dst []byte, s, before string) []byte {
	for line := range strings.SplitAfterSeq(strings.TrimRight(s, "\n"), "\n") {
		dst = append(append(dst, before...), line...)
	}
	return dst
}
