package session_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/docket-go/docket/timeline/session"
)

// A record is cut into its fields where package encoding/json sees them.
func FuzzFields(f *testing.F) {
	reference, err := os.ReadFile("testdata/reference.json")
	check(f, err)
	f.Add(reference)
	for _, data := range []string{
		` {} `, `{`, `[]`, `7`, `"{}"`, ``, `{"a":1}x`, `{"a":1,}`,
		`{"a" : {"b":[{},"}]\""]} , "a\\":-1e+5,"":[ ],"b":"\\" ,"c":true}`,
		`{"a":1,"\u0061":"twice","\ud800":"half a pair","` + "\xff" + `":null}`,
		"\t{\r\n\"a\"\n:\tnull\n,\"b\":\"\\\"{[,:\",\"c\":[[1 ],{\"d\":2 }]\n}\n",
	} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := session.Fields(data)
		want, ok := decoded(data)
		if ok != (err == nil) || !slices.Equal(got, want) {
			t.Fatalf("%q: got %+v, %v, want %+v, %v", data, got, err, want, ok)
		}
	})
}

// decoded reads an object with the decoder of package encoding/json.
func decoded(data []byte) (all []session.Field, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); !json.Valid(data) || err != nil || open != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		start := dec.InputOffset()
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		f := session.Field{Name: name.(string), Key: string(bytes.TrimLeft(data[start:dec.InputOffset()], ", \t\r\n"))}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, false
		}
		f.Value = string(value)
		if i := slices.IndexFunc(all, func(g session.Field) bool { return g.Name == f.Name }); i >= 0 {
			all[i].Value = f.Value
			continue
		}
		all = append(all, f)
	}
	return all, true
}

// A record keeps nothing of the memory from which it was read.
func TestRecordOwnsItsFields(t *testing.T) {
	data := []byte(`{"session_id":"s1","unknown":{"a":[1,2]}}`)
	var r session.Record
	check(t, r.UnmarshalJSON(data))
	before, err := r.MarshalJSON()
	check(t, err)
	for i := range data {
		data[i] = 'x'
	}
	if after, err := r.MarshalJSON(); err != nil || !bytes.Equal(after, before) {
		t.Errorf("got %s, %v, want %s", after, err, before)
	}
}
