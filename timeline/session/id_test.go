package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/session"
)

func TestValidID(t *testing.T) {
	for _, id := range []string{"a", "Z", "0", "a..b", "worker-1", "a_b.C-9", "0-", strings.Repeat("x", 128)} {
		if err := session.ValidID(id); err != nil {
			t.Errorf("%q: got %v, want a good id", id, err)
		}
	}
	for _, id := range []string{
		"", ".", "..", ".hidden", "-x", "_x", "a/b", "a\\b", "../a", "a b", "a\n", "a\x00", "é", "aé", "a:b", "~",
		"a\xff", strings.Repeat("x", 129),
	} {
		wantError(t, session.ValidID(id), session.ErrBadID)
	}
}

// Whatever is asked of a store for an id that is none touches nothing.
func TestBadIDsAreNeverAPath(t *testing.T) {
	store := newStore(t)
	outside := filepath.Join(filepath.Dir(store.Dir()), "outside")
	check(t, os.Mkdir(outside, 0o700))
	for _, id := range []string{"", ".", "../../outside", ".staging", "a/../../../outside"} {
		_, err := store.Create(ctx, session.New{ID: id})
		wantError(t, err, session.ErrBadID)
		_, err = store.Open(id)
		wantError(t, err, session.ErrBadID)
		_, _, err = store.Closed(id)
		wantError(t, err, session.ErrBadID)
	}
	if _, err := os.Stat(store.Dir()); !os.IsNotExist(err) {
		t.Errorf("got a store (%v), want none to be made for bad ids", err)
	}
}
