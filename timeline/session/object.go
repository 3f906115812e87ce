package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
func parseObject(data []byte) (object, error) {
	if !json.Valid(data) {
		var v json.RawMessage
		return nil, fmt.Errorf("it is not JSON: %w", json.Unmarshal(data, &v))
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errNotObject
	}
	o := object{}
	place := map[string]int{}
	for dec.More() {
		f, err := parseField(dec, data)
		if err != nil {
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

func parseField(dec *json.Decoder, data []byte) (field, error) {
	start := dec.InputOffset()
	name, err := dec.Token()
	if err != nil {
		return field{}, err
	}
	f := field{
		name: name.(string), // the grammar was checked
		key:  bytes.TrimLeft(data[start:dec.InputOffset()], ", \t\r\n"),
	}
	if err := dec.Decode(&f.value); err != nil && !errors.Is(err, io.EOF) {
		return field{}, err
	}
	return f, nil
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
