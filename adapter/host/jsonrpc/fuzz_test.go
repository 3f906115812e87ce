package jsonrpc_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

func seeds(f *testing.F) {
	for _, line := range []string{
		``, `{}`, `[]`, `{"id":1,"result":{}}`, `{"id":1,"error":{"code":-32600,"message":"x"}}`, `{"id":1,"error":5}`,
		`{"jsonrpc":"2.0","id":"q","method":"m","params":{"a":[1,{"b":"c"}]}}`, `{"method":"m"}`, `{"method":5,"id":{}}`,
		`{"params":{"method":"inner"},"method":"outer","id":null}`, `{"ID":1,"Method":"m"}`, "{\"method\":\"\xff\"}", `{"id":1,"id":2,"method":"a","method":"b"}`,
	} {
		f.Add([]byte(line))
	}
}

// FuzzLine reads any line and each of its beginnings: what is a message has a bounded
// id, and a beginning that holds its names whole says them as the whole does.
func FuzzLine(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		for n := range len(line) + 1 {
			jsonrpc.HeadOf(line[:n])
		}
		id, method, ok := jsonrpc.Decode(line)
		if !ok || id == "" {
			return
		}
		if len(id) > 1<<10 {
			t.Errorf("got an id of %d bytes, want a bounded one", len(id))
		}
		again, err := json.Marshal(map[string]any{"id": json.RawMessage(id), "method": method})
		if err != nil {
			t.Fatal(err)
		}
		id, method, _ = jsonrpc.Decode(again)
		headID, headMethod := jsonrpc.HeadOf(append(again[:len(again)-1], `,"params":"cu`...))
		if headID != id || headMethod != method {
			t.Errorf("got %q %q of the beginning of %s, want %q %q", headID, headMethod, again, id, method)
		}
	})
}

// FuzzConn has a program say anything: nothing breaks, and the end is told once, last.
func FuzzConn(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, said []byte) {
		k := start(t, jsonrpc.Options{MaxLineBytes: 64})
		k.call("a")
		k.next()
		go func() { _, _ = io.Copy(io.Discard, k.got) }() // what it refuses
		_, _ = k.far.Write(append(said, '\n'))
		k.far.Close()
		<-k.conn.Done()
		k.mu.Lock()
		defer k.mu.Unlock()
		n, answers := len(k.heard), 0
		for _, told := range k.heard {
			if bytes.HasPrefix([]byte(told), []byte("answered")) {
				answers++
			}
		}
		if n < 2 || answers > 1 || k.heard[n-2][:5] != "ended" || k.heard[n-1][:4] != "gone" {
			t.Errorf("got %q, want an answer at most, and the end last", k.heard)
		}
	})
}
