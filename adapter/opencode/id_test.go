package opencode_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/docket-go/docket/adapter/opencode"
)

var shape = regexp.MustCompile(`^[0-9a-f]{12}[0-9A-Za-z]{14}$`)

// TestIDsAreStable holds ids that messages of an older docket may have in opencode.
func TestIDsAreStable(t *testing.T) {
	for _, tt := range []struct{ session, mid, want string }{
		{"ses_1", "m1", "98df8a4bf2b7CMi4PkrUggGMum"},
		{"ses_2", "m1", "316adb4fcc4ep4Udqec276ggIH"},
		{"ses_1", "0195a6d0-8f10-7abc-8def-0123456789ab", "5a6d08f10874RngjDBU4E1X57s"}, // 5a6d08f10 are the low 36 bits of its time
	} {
		if got := opencode.IDOf(tt.session, tt.mid); got != tt.want {
			t.Errorf("%s in %s: got %s, want %s", tt.mid, tt.session, got, tt.want)
		}
	}
}

// TestIDsTellMessagesApart draws sessions and messages: equal ids mean the same message
// in the same session, and later messages of version 7 have greater ids.
func TestIDsTellMessagesApart(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seen := map[string]string{}
		for range 20 {
			session := fmt.Sprintf("ses_%d", rapid.IntRange(0, 3).Draw(rt, "session"))
			mid := rapid.String().Draw(rt, "mid")
			id, key := opencode.IDOf(session, mid), session+"\x00"+mid
			if !shape.MatchString(id) {
				rt.Fatalf("%q: got %s, want the shape %s", key, id, shape)
			}
			if other, ok := seen[id]; ok && other != key {
				rt.Fatalf("got %s for %q and %q", id, other, key)
			}
			seen[id] = key
		}
	})
}

func TestIDsSortByTime(t *testing.T) {
	at := func(ms uint64) string {
		var id uuid.UUID
		for i := range 6 {
			id[i] = byte(ms >> (40 - 8*i))
		}
		id[6], id[8] = 0x70, 0x80
		return opencode.IDOf("ses_1", id.String())
	}
	rapid.Check(t, func(rt *rapid.T) {
		ms := rapid.Uint64Range(1_700_000_000_000, 1_720_000_000_000).Draw(rt, "ms") // within one turn of the 36 bits
		if a, b := at(ms), at(ms+1); a >= b {
			rt.Fatalf("%d: got %s, then %s a millisecond later", ms, a, b)
		}
	})
}
