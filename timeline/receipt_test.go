package timeline_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/timeline"
)

func keyedMessage(i int) timeline.Sent {
	s := message(i)
	s.Receipt = &timeline.Receipt{Operation: "merge", RequestDigest: fmt.Sprintf("digest%d", i), PayloadHash: "p", Delivery: timeline.Delivery{Text: "frozen"}}
	return s
}

// Damage where the receipt of a request may have stood is never read as a request
// that was not accepted, and hinders no other request.
func TestReceiptThatIsDamaged(t *testing.T) {
	flip := func(raw []byte) []byte {
		return bytes.Replace(raw, []byte(`"mid":"m1"`), []byte("\"mid\":\"m1\x01"), 1)
	}
	for _, tt := range []struct {
		name   string
		filler int // declarations behind the messages
		change func(path string) error
	}{
		{"a line of the newest segment", 0, nil},
		{"a line of an older segment", 20, nil},
		{"a segment is gone", 20, os.Remove},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newDir(t)
			l := buffered(t, dir, 1200)
			appendAll(t, l, keyedMessage(0), keyedMessage(1))
			for i := range tt.filler {
				appendAll(t, l, timeline.Status{Status: "active", Note: fmt.Sprint(i)}, keyedMessage(100+i))
			}
			path := filepath.Join(dir, "timeline", "000000000001.ndjson")
			if tt.change == nil {
				tt.change = func(path string) error {
					raw, err := os.ReadFile(path)
					return errors.Join(err, os.WriteFile(path, flip(raw), 0o600))
				}
			}
			if err := tt.change(path); err != nil {
				t.Fatal(err)
			}
			l = buffered(t, dir, 1200)
			if f, ok, err := l.Receipt(t.Context(), "merge", "digest1"); !errors.Is(err, timeline.ErrCorrupt) {
				t.Errorf("the damaged one: got %+v, %v, %v, want %v", f, ok, err, timeline.ErrCorrupt)
			}
			if f, ok, err := l.Receipt(t.Context(), "merge", "unknown"); ok || err != nil {
				t.Errorf("an unknown one: got %+v, %v, %v", f, ok, err)
			}
			if tt.filler > 0 {
				if _, ok, err := l.Receipt(t.Context(), "merge", "digest103"); !ok || err != nil {
					t.Errorf("a whole one: got %v, %v", ok, err)
				}
			}
		})
	}
}

// What damage leaves of a message and of its key still says that there was one: a part
// of the digest, the end of the request, or the filter and the digest that the next
// segment has of the damaged one.
func TestReceiptOfWhichLittleIsLeft(t *testing.T) {
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte("the key")))
	clearLine := func(raw []byte) []byte {
		at := bytes.Index(raw, []byte(digest))
		from, to := bytes.LastIndexByte(raw[:at], '\n')+1, at+bytes.IndexByte(raw[at:], '\n')
		clear(raw[from:to])
		return raw
	}
	for _, tt := range []struct {
		name   string
		filler int // declarations behind the message
		ended  bool
		damage func(raw []byte) []byte
	}{
		{"a bit of the digest flipped", 0, false, func(raw []byte) []byte {
			raw[bytes.Index(raw, []byte(digest))+20] ^= 1
			return raw
		}},
		{"a bit of the digest flipped, and a new segment begun", -1, false, func(raw []byte) []byte {
			raw[bytes.Index(raw, []byte(digest))+20] ^= 1
			return raw
		}},
		{"the line is NULs, and its end is there", 0, true, clearLine},
		{"the line is NULs, in an older segment", 20, false, clearLine},
		{"an older segment is cut", 20, false, func(raw []byte) []byte { return raw[:bytes.IndexByte(raw, '\n')+1] }},
		{"an older segment is cut in a line", 20, false, func(raw []byte) []byte { return raw[:bytes.Index(raw, []byte(digest))-9] }},
		{"an older segment is empty", 20, false, func([]byte) []byte { return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newDir(t)
			l := buffered(t, dir, 1200)
			m := keyedMessage(1)
			m.Receipt.RequestDigest = digest
			appendAll(t, l, m)
			if tt.ended {
				appendAll(t, l, timeline.Settled{MID: m.MID, Operation: "merge", RequestDigest: digest})
			}
			fill := func(l *timeline.Log, n int) {
				for i := range n {
					appendAll(t, l, timeline.Status{Status: "active", Note: fmt.Sprint(i)}, keyedMessage(100+i))
				}
			}
			fill(l, tt.filler)
			path := filepath.Join(dir, "timeline", "000000000001.ndjson")
			raw, err := os.ReadFile(path)
			if err = errors.Join(err, os.WriteFile(path, tt.damage(raw), 0o600)); err != nil {
				t.Fatal(err)
			}
			l = buffered(t, dir, 1200)
			if tt.filler < 0 {
				fill(l, 20)
			}
			checkDoubt(t, l, digest)
		})
	}
}

// checkDoubt looks whether the one request is in doubt, and no other.
func checkDoubt(t *testing.T, l *timeline.Log, digest string) {
	t.Helper()
	if f, ok, err := l.Receipt(t.Context(), "merge", digest); !errors.Is(err, timeline.ErrCorrupt) {
		t.Errorf("the damaged one: got %+v, %v, %v, want %v", f, ok, err, timeline.ErrCorrupt)
	}
	other := fmt.Sprintf("%x", sha256.Sum256([]byte("another key")))
	if f, ok, err := l.Receipt(t.Context(), "merge", other); ok || err != nil {
		t.Errorf("an unknown one: got %+v, %v, %v", f, ok, err)
	}
}
