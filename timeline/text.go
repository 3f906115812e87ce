package timeline

import (
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// text returns the string that stands at v in raw. Without escapes it shares raw's
// memory. What is not Unicode, stray bytes and lone surrogates, becomes U+FFFD.
func text(raw string, v value) string {
	s := raw[v.from+1 : v.to-1]
	if v.plain {
		return valid(s)
	}
	out := make([]byte, 0, len(s))
	for {
		i := strings.IndexByte(s, '\\')
		if i < 0 {
			return string(append(out, valid(s)...))
		}
		out = append(out, valid(s[:i])...)
		s = s[i:]
		if s[1] == 'u' {
			r, n := codeUnits(s)
			out = utf8.AppendRune(out, r)
			s = s[n:]
			continue
		}
		out = append(out, unescaped(s[1]))
		s = s[2:]
	}
}

func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// codeUnits decodes the \u escape that s starts with, and the one behind it where
// the two are a pair.
func codeUnits(s string) (r rune, n int) {
	first := codeUnit(s)
	if !utf16.IsSurrogate(first) {
		return first, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if r := utf16.DecodeRune(first, codeUnit(s[6:])); r != utf8.RuneError {
			return r, 12
		}
	}
	return utf8.RuneError, 6
}

func codeUnit(s string) rune {
	u, err := strconv.ParseUint(s[2:6], 16, 16)
	if err != nil {
		return utf8.RuneError
	}
	return rune(u)
}

// appendString appends s as JavaScript's JSON.stringify writes it.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for {
		n := plainBytes(s)
		if dst = append(dst, s[:n]...); n == len(s) {
			return append(dst, '"')
		}
		dst = appendEscape(dst, s[n])
		s = s[n+1:]
	}
}

// plainBytes returns how many bytes at the start of s are written as they are.
func plainBytes(s string) (n int) {
	for ; len(s)-n >= 8; n += 8 {
		if found := escapedIn(word(s[n:])); found != 0 {
			return n + bits.TrailingZeros64(found)/8
		}
	}
	for n < len(s) && s[n] >= ' ' && s[n] != '"' && s[n] != '\\' {
		n++
	}
	return n
}

// escapedIn returns a word whose lowest bit that is set is in the first byte of x that is
// written as an escape; it is zero if there is none.
func escapedIn(x uint64) uint64 {
	const ones = 0x0101010101010101
	quote, backslash := x^'"'*ones, x^'\\'*ones
	return ((x-' '*ones)&^x | (quote-ones)&^quote | (backslash-ones)&^backslash) & (0x80 * ones)
}

func appendEscape(dst []byte, c byte) []byte {
	const hex = "0123456789abcdef"
	if e := escapeOf(c); e != 0 {
		return append(dst, '\\', e)
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// escapeOf returns the letter of the short escape of c, and 0 if it has none.
func escapeOf(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	}
	return 0
}

// appendNullable appends s, and null where it is empty.
func appendNullable(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return appendString(dst, s)
}
