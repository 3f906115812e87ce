package queue_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// What Peek shows is the first of what List shows, without the lock.
func TestPeekShowsTheOldest(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for name, prepare := range map[string]func(d *desk){
		"nothing owed":  func(d *desk) {},
		"one":           func(d *desk) { d.enqueue("m1") },
		"behind blanks": func(d *desk) { d.enqueue("m1", "m2", "m3"); d.remove("m1") },
		"a long one": func(d *desk) {
			d.must(func(h *lock.Record) error { e := entry("m1"); e.Text = long; return d.Enqueue(h, e) })
		},
		"claimed": func(d *desk) { d.enqueue("m1", "m2"); d.must(func(h *lock.Record) error { return d.Claim(h, "m1") }) },
		"refused": func(d *desk) {
			d.enqueue("m1")
			d.must(func(h *lock.Record) error { return d.Refused(h, "m1", "busy") })
		},
		"of another writer": func(d *desk) { d.put(`[ {"mid":"m1","text":"a"}, {"mid":"m2","text":"b"} ]`) },
		"an empty list":     func(d *desk) { d.put("[]") },
		"damaged behind it": func(d *desk) {
			d.enqueue("m1", "m2", "m3")
			d.put(strings.Replace(d.content(), "text of m2", "text of m9", 1))
		},
		"damaged in front": func(d *desk) {
			d.enqueue("m1", "m2")
			d.put(strings.Replace(d.content(), "text of m1", "text of m9", 1))
		},
		"no list": func(d *desk) { d.put("{]") },
		"cut":     func(d *desk) { d.enqueue("m1", "m2"); d.put(d.content()[:60]) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			prepare(d)
			if owes, err := queue.Owes(d.dir); err != nil || owes != (name != "nothing owed") {
				t.Errorf("Owes: got %v, %v, want whether there is a list", owes, err)
			}
			entries, listErr := d.List()
			got, found, err := d.Peek()
			if found != (len(entries) > 0) {
				t.Fatalf("got found %v, want what List shows: %v", found, mids(entries))
			}
			if found && (got.MID != entries[0].MID || got.Attempts != entries[0].Attempts || got.LastError != entries[0].LastError || !got.Claimed.Equal(entries[0].Claimed)) {
				t.Errorf("got %+v, want %+v", got, entries[0])
			}
			if errors.Is(err, queue.ErrCorrupt) != errors.Is(listErr, queue.ErrCorrupt) && name != "damaged behind it" {
				t.Errorf("got error %v, want that of List: %v", err, listErr)
			}
		})
	}
}

// It does not read what stands behind the oldest entry.
func TestPeekReadsOneEntry(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("m1", "m2", "m3")
	d.put(strings.Replace(d.content(), "text of m2", "text of m9", 1))
	if got, found, err := d.Peek(); got.MID != "m1" || !found || err != nil {
		t.Errorf("got %q, %v, %v, want m1, whatever stands behind it", got.MID, found, err)
	}
}
