package file_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter/file"
)

const ours = `{"ts":"2026-01-02T03:04:05.678Z","mid":"m1","session":"s","from":null,"text":"t","attributes":{}}` + "\n"

func TestScan(t *testing.T) {
	long := strings.Replace(ours, `"t"`, `"`+strings.Repeat("x", 1<<20)+`"`, 1)
	for _, tt := range []struct {
		name, data string
		want       bool
	}{
		{"empty", "", false},
		{"only line", ours, true},
		{"no newline", strings.TrimSuffix(ours, "\n"), false},
		{"behind others", "x\n\n" + strings.Repeat("y", 100_000) + "\n" + ours, true},
		{"longer than the buffer", long, true},
		{"longer than the buffer, no newline", strings.TrimSuffix(long, "\n"), false},
		{"behind a longer one", strings.Replace(long, "m1", "m0", 1) + ours, true},
		{"glued to a foreign end", "x" + ours, false},
		{"a hole inside", strings.Replace(long, "xxxx", "\x00\x00\x00\x00", 1), false},
		{"a hole in another", strings.Replace(long, "xxxx", "\x00\x00\x00\x00", 1) + ours, true},
		{"mid in the text only", strings.NewReplacer("m1", "m2", `"t"`, `"\"mid\":\"m1\""`).Replace(ours), false},
		{"another order", `{"mid":"m1","ts":"x"}` + "\n", false},
		{"mid is no text", strings.Replace(ours, `"m1"`, `1`, 1), false},
		{"escaped mid", strings.Replace(ours, `"m1"`, `"m\u0031"`, 1), true},
	} {
		got, err := file.Scan(strings.NewReader(tt.data), "m1")
		if err != nil || got != tt.want {
			t.Errorf("%s: got %v, %v, want %v", tt.name, got, err, tt.want)
		}
	}
	if got, err := file.Scan(strings.NewReader(strings.Replace(ours, "m1", "", 1)), ""); got || err != nil {
		t.Errorf("empty mid: got %v, %v, want it never found", got, err)
	}
}

// FuzzScan compares the streaming look with one that holds the whole file, and
// checks that what is healed can be written behind.
func FuzzScan(f *testing.F) {
	f.Add([]byte(ours), "m1")
	f.Add([]byte(ours[:len(ours)-1]), "m1")
	f.Add([]byte("foreign\n"+ours+`{"ts":"torn`), "m1")
	f.Add([]byte(`{"ts":"x","mid":"\ud800","text":1}`+"\n"), "\ufffd")
	f.Add(bytes.Repeat([]byte("z"), 9000), "z")
	f.Fuzz(func(t *testing.T, data []byte, mid string) {
		got, err := file.Scan(bytes.NewReader(data), mid)
		if err != nil {
			t.Fatalf("got %v, want no error from bytes", err)
		}
		if want := naive(data, mid); got != want {
			t.Fatalf("got %v, want %v", got, want)
		}
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		glue, err := file.Heal(h)
		if err != nil {
			t.Fatal(err)
		}
		healed, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, healed) || bytes.Count(healed, []byte("\n")) != bytes.Count(data, []byte("\n")) {
			t.Fatalf("got %q healed, want all whole lines of %q", healed, data)
		}
		all := append(append(healed, glue...), strings.Replace(ours, "m1", "m-new", 1)...)
		if found, err := file.Scan(bytes.NewReader(all), "m-new"); !found || err != nil {
			t.Fatalf("line behind the healed end: got %v, %v, want it found", found, err)
		}
	})
}

// naive looks with everything in memory.
func naive(data []byte, mid string) bool {
	for l := range bytes.Lines(data) {
		if mid == "" || !bytes.HasSuffix(l, []byte("\n")) || !bytes.HasPrefix(l, []byte(`{"ts":"`)) || !json.Valid(l) {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(l))
		var tokens []json.Token
		for range 5 {
			token, err := d.Token()
			if err != nil {
				break
			}
			tokens = append(tokens, token)
		}
		if len(tokens) == 5 && tokens[3] == "mid" && tokens[4] == mid {
			return true
		}
	}
	return false
}
