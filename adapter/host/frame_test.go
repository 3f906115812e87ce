package host_test

import (
	"bytes"
	"testing"

	"github.com/docket-go/docket/adapter/host"
)

// Whatever is read says the same when it is written and read again.
func FuzzDecodeFrame(f *testing.F) {
	for _, line := range []string{
		`{"type":"welcome","version":1,"replay":1,"session":"s1","instance":"i"}`, `{"type":"hello","version":1,"role":"sender"}`,
		`{"type":"prompt","mid":"m1","session":"s1","from":"p","text":"a\u0000b\u2028<","attributes":{"a":"b"}}`,
		`{"type":"emission","token":"t","n":1,"kind":"text","value":{"text":"x"}}`,
		`{"type":"emission","token":"t","n":2,"native":{"provider":"acp"},"kind":"tool","value":{"id":"1","title":"","class":"","status":"done"}}`,
		`{"type":"emission","token":"t","n":3,"kind":"permission","value":{"id":"p","title":"","options":[{"id":"y","name":"Y","grants":true}],"state":"asked"}}`,
		`{"type":"emission","token":"t","n":4,"kind":"usage","value":{"input":1,"output":2,"total":3}}`,
		`{"type":"emission","token":"t","n":5,"kind":"diagnostic","value":{"severity":"error","text":""}}`,
		`{"type":"emission","token":"t","n":6,"kind":"finished","value":{"outcome":"success"}}`,
		`{"type":"emission","token":"t","n":6,"kind":"finished","value":{"outcome":"splendid"}}`,
		`{"type":"emission","token":"t","n":6,"kind":"raw","value":{}}`, `{"type":"emission"}`,
		`{"type":"fact","name":"model","text":"x"}`, `{"type":"idle","text":"x"}`, `{"type":"idle"}{}`, `{}`, `null`, "\xff", `{"TYPE":"idle","type":"probe"}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		once, err := host.DecodeFrame(line)
		if err != nil {
			return
		}
		if bytes.Count(once, []byte("\n")) != 1 {
			t.Fatalf("got %q, want one line", once)
		}
		twice, err := host.DecodeFrame(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("got %q, %v, want %q again", twice, err, once)
		}
	})
}
