package timeline

import (
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
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if e := escapeOf(c); e != 0 {
			dst = append(dst, '\\', e)
			continue
		}
		dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
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
