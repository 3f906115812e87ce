package queue_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// Whatever is in the file: it is read or it is ErrCorrupt, never less than it holds;
// a file that was corrupt stays as it is until it is rebuilt, and is whole then.
func FuzzListFile(f *testing.F) {
	for _, seed := range []string{
		reference(f), "", "[]", "[\n]\n", "[\n   \n" + lineA + "\n]\n", "[\n" + lineA + ",\n" + lineB + "\n]\n",
		"[\n" + lineA + ",\n" + lineB[:20], "[\n" + lineA + ",]\n", "[\n" + lineA + ",\n\n",
		"[\n            b\":\"x\"},\n" + lineB + "\n]\n", "[\n         ,\n" + lineB + "\n]\n",
		"[\n" + lineA + ",\n\x00\x00\n" + lineB + "\n]\n", lineA, "[" + lineA + "," + lineB + "]", "[[[[[[[[",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDesk(t, queue.Options{})
		d.SetPatience(0)
		d.put(string(data))
		entries, listErr := d.List()
		if listErr != nil && !errors.Is(listErr, queue.ErrCorrupt) {
			t.Fatalf("list: %v", listErr)
		}
		in, err := d.Inspect()
		if err != nil || (in.Err() != nil) != (listErr != nil) {
			t.Fatalf("inspect: got %v, %v, and list said %v", in.Err(), err, listErr)
		}
		mid, headErr := d.headOr()
		if headErr != nil {
			if listErr == nil || !errors.Is(headErr, queue.ErrCorrupt) || d.content() != string(data) {
				t.Fatalf("head: %v, with list %v; the file is %q now", headErr, listErr, d.content())
			}
			d.must(func(held *lock.Record) error { _, err := d.Rebuild(held, in.Entries); return err })
			d.atRest(mids(in.Entries))
			return
		}
		if len(entries) > 0 && mid != entries[0].MID || len(entries) == 0 && mid != "" {
			t.Fatalf("head: got %q, want that of %v", mid, mids(entries))
		}
		equal(t, "after the first use", d.list(), mids(entries))
		d.enqueue("fuzz")
		equal(t, "after an enqueue", d.list(), append(mids(entries), "fuzz"))
	})
}

// Whatever is in pending.head: the entry is claimed or it is not, the next note can
// be written, and no other entry is concerned.
func FuzzClaimFile(f *testing.F) {
	dir := f.TempDir()
	d := openDesk(f, dir, queue.Options{})
	d.enqueue("a")
	d.must(func(held *lock.Record) error { return d.Claim(held, "a") })
	claim, err := os.ReadFile(filepath.Join(dir, queue.ClaimFile))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range [][]byte{claim, claim[:100], nil, []byte(`{"mid":"b"}`), make([]byte, 2048)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDesk(t, queue.Options{})
		d.enqueue("a", "b")
		if err := os.WriteFile(filepath.Join(d.dir, queue.ClaimFile), data, 0o600); err != nil {
			t.Fatal(err)
		}
		entries, err := d.List()
		if err != nil || entries[1].Unconfirmed() || entries[0].Unconfirmed() != d.head().Unconfirmed() {
			t.Fatalf("got %+v, %v", entries, err)
		}
		d.must(func(held *lock.Record) error { return d.Refused(held, "a", "no") })
		if e := d.head(); e.Unconfirmed() || e.LastError != "no" {
			t.Fatalf("got %+v, want it refused", e)
		}
	})
}
