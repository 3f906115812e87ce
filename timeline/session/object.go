package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// An object is a JSON object that keeps the order of its fields and the bytes of
// each name and value. Names are unique: of several the last value counts, as in
// every common reader, at the place of the first.
type object []field

type field struct {
	name  string
	key   []byte // the name as it was written, quotes included
	value json.RawMessage
}

var errNotObject = errors.New("it holds no JSON object")

// parseObject reads data, which must be one JSON object and nothing else. What it
// returns shares memory with data.
//
// The grammar is that of package encoding/json. Only what it takes is cut into fields
// here, so that each byte has one meaning left.
func parseObject(data []byte) (object, error) {
	if !json.Valid(data) {
		var v json.RawMessage
		return nil, fmt.Errorf("it is not JSON: %w", json.Unmarshal(data, &v))
	}
	rest := between(data)
	if rest[0] != '{' {
		return nil, errNotObject
	}
	o := make(object, 0, 16)
	place := make(map[string]int, 16)
	for rest = between(rest[1:]); rest[0] != '}'; {
		var f field
		f.key, rest = cutValue(rest)
		f.value, rest = cutValue(between(rest))
		rest = between(rest)
		var err error
		if f.name, err = unquote(f.key); err != nil {
			return nil, err
		}
		if i, twice := place[f.name]; twice {
			o[i].value = f.value
			continue
		}
		place[f.name] = len(o)
		o = append(o, f)
	}
	return o, nil
}

// between returns b behind what may stand between two values of valid JSON.
func between(b []byte) []byte {
	for len(b) > 0 && strings.IndexByte(" \t\r\n,:", b[0]) >= 0 {
		b = b[1:]
	}
	return b
}

// cutValue returns the value with which b, a piece of valid JSON, begins, and the rest.
func cutValue(b []byte) (value, rest []byte) {
	n, depth := 0, 0
	for {
		switch b[n] {
		case '"':
			n += textBytes(b[n:])
		case '{', '[':
			depth++
			n++
		case '}', ']':
			depth--
			n++
		default: // a number or word at the top, or anything in between
			n++
			for depth == 0 && n < len(b) && strings.IndexByte(" \t\r\n,:]}", b[n]) < 0 {
				n++
			}
		}
		if depth == 0 {
			return b[:n:n], b[n:]
		}
	}
}

// textBytes returns how long the JSON text is with which b begins.
func textBytes(b []byte) int {
	n := 1
	for b[n] != '"' {
		if b[n] == '\\' {
			n++
		}
		n++
	}
	return n + 1
}

// unquote returns the text that valid JSON stands for.
func unquote(text []byte) (s string, err error) {
	if bare := text[1 : len(text)-1]; bytes.IndexByte(bare, '\\') < 0 && utf8.Valid(bare) {
		return string(bare), nil
	}
	err = json.Unmarshal(text, &s)
	return s, err
}

// get returns the value of the named field, and nil if there is none.
func (o object) get(name string) json.RawMessage {
	for i := range o {
		if o[i].name == name {
			return o[i].value
		}
	}
	return nil
}

// set gives the named field the value v, at the end if it is new.
func (o *object) set(name string, v any) {
	value := encodeValue(v)
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, field{name: name, key: encodeValue(name), value: value})
}

func (o *object) remove(name string) {
	for i := range *o {
		if (*o)[i].name == name {
			*o = append((*o)[:i:i], (*o)[i+1:]...)
			return
		}
	}
}

// encode returns the object with one field a line, indented by two spaces, and a
// newline at the end.
func (o object) encode() []byte {
	b := []byte{'{'}
	for i, f := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n  "...)
		b = append(b, f.key...)
		b = append(b, ": "...)
		b = append(b, f.value...)
	}
	return append(b, "\n}\n"...)
}

// encodeValue encodes what cannot fail to encode: text, numbers, and structs and
// maps of them.
func encodeValue(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("  ", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // a value of another type: no input leads here
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
