package timeline_test

import (
	"bytes"
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
