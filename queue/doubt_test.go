package queue_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// rebuildDoubted makes a list of one sure and two doubtful entries.
func rebuildDoubted(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t, queue.Options{})
	entries := []queue.Entry{entry("sure"), entry("doubted"), entry("also")}
	for i := range entries[1:] {
		entries[i+1].Doubt = "its end cannot be read \x00"
	}
	d.must(func(held *lock.Record) error {
		_, err := d.Rebuild(held, entries)
		return err
	})
	return d
}

// An entry with a doubt is unconfirmed once it is the oldest, and not handed over by
// itself, until somebody decides about it.
func TestDoubtHoldsTheOldest(t *testing.T) {
	d := rebuildDoubted(t)
	a := &agent{}
	_, err := d.drain(a.handover())
	var stopped *queue.StoppedError
	if !errors.As(err, &stopped) || stopped.MID != "doubted" || stopped.Answer != queue.Unconfirmed {
		t.Fatalf("got %v, want the pass to end unconfirmed at the first doubt", err)
	}
	other := openDesk(t, d.dir, queue.Options{})
	defer other.Close()
	listed, err := other.List()
	if err != nil || !listed[0].Unconfirmed() || listed[1].Unconfirmed() {
		t.Fatalf("got %+v, %v, want only the oldest unconfirmed", listed, err)
	}
	if e := other.head(); !e.Unconfirmed() || !strings.HasPrefix(e.LastError, "its end cannot be read") || e.Attempts != 0 {
		t.Fatalf("got %+v, want the doubt as the reason, and no attempt", e)
	}
	d.must(func(held *lock.Record) error { return d.Unclaim(held, "doubted") })
	if e := other.head(); e.Unconfirmed() {
		t.Fatalf("got %+v, want it owed once somebody decided", e)
	}
	if _, err := d.drain(a.handover()); !errors.As(err, &stopped) || stopped.MID != "also" {
		t.Fatalf("got %v, want the pass to end at the next doubt", err)
	}
	d.remove("also")
	d.atRest(nil)
}

// What a pass notes about an entry in doubt leaves it in doubt.
func TestDoubtOutlivesANote(t *testing.T) {
	d := rebuildDoubted(t)
	d.remove("sure")
	d.must(func(held *lock.Record) error { return d.Unconfirmed(held, "doubted", "held") })
	if e := d.head(); !e.Unconfirmed() || e.LastError != "held" {
		t.Fatalf("got %+v, want it unconfirmed still", e)
	}
}

// A doubt is under the checksum as the rest of its entry.
func TestDoubtIsKept(t *testing.T) {
	d := rebuildDoubted(t)
	content, err := os.ReadFile(d.path())
	if err != nil {
		t.Fatal(err)
	}
	d.remove("sure")
	entries, err := d.List()
	if err != nil || !slices.Equal(mids(entries), []string{"doubted", "also"}) || entries[1].Doubt == "" {
		t.Fatalf("got %+v, %v, want both with their doubt", entries, err)
	}
	d.put(strings.Replace(string(content), `"doubt":"its`, `"doubt":"Its`, 1))
	if _, err := d.List(); !errors.Is(err, queue.ErrCorrupt) {
		t.Fatalf("got %v, want a changed doubt to be damage", err)
	}
}
