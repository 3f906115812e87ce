package queue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/queue"
)

const recordLock = "record.lock"

// A moment is what the files held at one time; nil where there was none.
type moment map[string][]byte

func snapshot(t *testing.T, dir string) moment {
	t.Helper()
	m := moment{}
	for _, name := range []string{queue.ListFile, queue.ClaimFile, recordLock} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		m[name] = data
	}
	return m
}

// busyDay works on a queue and returns what its files held in between, and the book.
func busyDay(t *testing.T) ([]moment, *book) {
	t.Helper()
	d, b := newDesk(t, queue.Options{}), &book{}
	d.must((*lock.Record).Recovered)
	moments := []moment{snapshot(t, d.dir)}
	defer step.Hook(func(string) { moments = append(moments, snapshot(t, d.dir)) })()
	for _, mid := range []string{"a", "b", "c", "d"} {
		b.accept(d, mid)
	}
	a := &agent{answer: func(mid string) (queue.Answer, error) {
		if mid == "c" {
			return queue.Unconfirmed, errBusy
		}
		return queue.Taken, nil
	}}
	h := a.handover()
	h.Settle = func(_ context.Context, _ *lock.Record, e queue.Entry) error {
		b.ended = append(b.ended, e.MID)
		return nil
	}
	d.drain(h)
	b.accept(d, "e")
	return append(moments, snapshot(t, d.dir)), b
}

// versions are the different contents of one file, those that a cut makes of them
// included.
func versions(moments []moment, name string) [][]byte {
	all := [][]byte{nil, {}, bytes.Repeat([]byte{0}, 700), []byte("garbage")}
	for _, m := range moments {
		all = append(all, m[name])
		if n := len(m[name]); n > 0 {
			all = append(all, m[name][:n/2], append(bytes.Clone(m[name][:n/2]), make([]byte, n-n/2)...))
		}
	}
	slices.SortFunc(all, bytes.Compare)
	return slices.CompactFunc(all, func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) })
}

// restart puts the files into a new directory as another boot finds them.
func restart(t *testing.T, m moment) *desk {
	t.Helper()
	d := newDesk(t, queue.Options{})
	for name, data := range m {
		if data == nil {
			continue
		}
		if name == recordLock && len(data) >= 64 {
			data = slices.Concat(data[:27], []byte(strings.Repeat("x", 36)), data[63:])
		}
		if err := os.WriteFile(filepath.Join(d.dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// afterCut fails unless what a power cut left is told from a sound queue, reads as
// nothing only where there is no list, and is made good by the book.
func afterCut(t *testing.T, m moment, b *book) {
	t.Helper()
	d := restart(t, m)
	defer d.Close()
	d.must(func(held *lock.Record) error {
		if !held.Interrupted() {
			return errors.New("the lock does not say that the machine restarted")
		}
		return nil
	})
	entries, err := d.List()
	if err != nil && !errors.Is(err, queue.ErrCorrupt) {
		t.Fatalf("list: %v", err)
	}
	if err == nil && len(entries) == 0 && m[queue.ListFile] != nil {
		t.Fatalf("list: nothing in %q", m[queue.ListFile])
	}
	for _, e := range entries {
		if !slices.Contains(b.accepted, e.MID) || e.Text != entry(e.MID).Text {
			t.Fatalf("list: %+v was never accepted, in %q", e, m[queue.ListFile])
		}
	}
	if mid, err := d.headOr(); err == nil && mid == "" && m[queue.ListFile] != nil {
		t.Fatalf("head: nothing in %q", m[queue.ListFile])
	}
	in, err := d.Inspect()
	if err != nil {
		t.Fatal(err)
	}
	d.must(func(held *lock.Record) error {
		_, err := d.Rebuild(held, b.merge(in.Entries))
		return errors.Join(err, held.Recovered())
	})
	d.atRest(b.owed())
	equal(t, "after the repair", d.list(), b.owed())
}

// merge is what the book says is owed, with the entries that were found.
func (b *book) merge(found []queue.Entry) []queue.Entry {
	var entries []queue.Entry
	for _, mid := range b.owed() {
		i := slices.IndexFunc(found, func(e queue.Entry) bool { return e.MID == mid })
		if i < 0 {
			entries = append(entries, entry(mid))
		} else {
			entries = append(entries, found[i])
		}
	}
	return entries
}

// Nothing of the queue is synced in ordinary use, so that a power cut may leave any
// content that each of its files ever had, or a part of it, beside any of the others.
func TestPowerCut(t *testing.T) {
	moments, b := busyDay(t)
	notes, locks := versions(moments, queue.ClaimFile), versions(moments, recordLock)
	for i, list := range versions(moments, queue.ListFile) {
		// Every third of all combinations, in which each two of the files meet.
		for j, note := range notes {
			if (i+j)%3 == 0 {
				afterCut(t, moment{queue.ListFile: list, queue.ClaimFile: note, recordLock: locks[(i+j)/3%len(locks)]}, b)
			}
		}
	}
}

// The blocks of a file that is changed in place reach the disk in any order.
func TestPowerCutBetweenBlocks(t *testing.T) {
	const block = 64 // the smaller it is, the more kinds of cuts there are
	moments, b := busyDay(t)
	lists := slices.DeleteFunc(versions(moments[:len(moments):len(moments)], queue.ListFile), func(v []byte) bool { return !bytes.HasPrefix(v, []byte("[\n")) })
	seen := map[string]bool{}
	for _, before := range lists {
		for _, after := range lists {
			for at := 0; at < len(after); at += block {
				mixed := mix(before, after, at, block)
				if name := fmt.Sprintf("%x", mixed); !seen[name] && len(seen) < 150 {
					seen[name] = true
					afterCut(t, moment{queue.ListFile: mixed}, b)
				}
			}
		}
	}
}

// mix is before, as long as after, with one block of after in it.
func mix(before, after []byte, at, block int) []byte {
	mixed := make([]byte, len(after))
	copy(mixed, before)
	copy(mixed[at:min(at+block, len(after))], after[at:])
	return mixed
}
