package queue_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// flips calls do with data as it is after the flip of one bit, for three bits of each
// byte, which are others from byte to byte.
func flips(data string, do func(bit int, flipped string)) {
	b := []byte(data)
	for bit := range 8 * len(b) {
		if (bit+bit/8)%8%3 > 0 {
			continue
		}
		b[bit/8] ^= 1 << (bit % 8)
		do(bit, string(b))
		b[bit/8] ^= 1 << (bit % 8)
	}
}

// Each byte of the list is flipped: whatever that makes of the file, no message is
// read that was not written, and if one is missing the file is ErrCorrupt.
func TestEveryByteFlipped(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("gone")
	for _, e := range []queue.Entry{
		{MID: "a", Text: "rm \"x\"\né", From: "lead", FromLife: 2, EnqueuedAt: entry("a").EnqueuedAt},
		{MID: "b", Text: "t", Dispatch: &queue.Dispatch{Operation: "o", RequestDigest: "0f"}, Seq: 9, HasSeq: true},
		{MID: "c", Text: "t", From: "x", Attributes: map[string]string{"k": "v"}},
	} {
		d.must(func(held *lock.Record) error { return d.Enqueue(held, e) })
	}
	d.remove("gone")
	d.must((*lock.Record).Recovered)
	want, err := d.List()
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]queue.Entry{}
	for _, e := range want {
		written[e.MID] = e
	}
	d.SetPatience(0)
	flips(d.content(), func(bit int, flipped string) {
		d.put(flipped)
		in, err := d.Inspect()
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range in.Entries {
			if !reflect.DeepEqual(queue.Known(e), written[e.MID]) {
				t.Fatalf("bit %d: read %+v in %q", bit, e, flipped)
			}
		}
		if len(in.Entries) != len(want) && !errors.Is(in.Err(), queue.ErrCorrupt) {
			t.Fatalf("bit %d: got %v, %v in %q", bit, mids(in.Entries), in.Err(), flipped)
		}
		if in.Err() != nil && bit%7 > 0 {
			return // the writers see what Inspect sees
		}
		if mid, err := d.headOr(); err == nil && mid != "a" {
			t.Fatalf("bit %d: head: got %q in %q", bit, mid, flipped)
		}
	})
}

// A message that was changed on the disk is not handed over, however long the queue
// is before which a pass does not read it whole; repair has a copy of it.
func TestChangedMessageIsNotHandedOver(t *testing.T) {
	d := newDesk(t, queue.Options{})
	for _, mid := range []string{"a", "b", "c"} {
		e := entry(mid)
		e.Text = strings.Repeat("x", 50_000) + mid
		d.must(func(held *lock.Record) error { return d.Enqueue(held, e) })
	}
	d.put(strings.Replace(d.content(), "xxxb", "xxyb", 1))
	a := &agent{}
	if _, err := d.drain(a.handover()); !errors.Is(err, queue.ErrCorrupt) {
		t.Fatalf("got %v, want ErrCorrupt", err)
	}
	equal(t, "handed", a.handed, []string{"a"})
	in, err := d.Inspect()
	if err != nil || !in.Damaged() || len(in.Faults) != 1 || in.Faults[0].Bare {
		t.Fatalf("got %+v, %v, want one fault that concerns a message", in.Faults, err)
	}
	equal(t, "entries", mids(in.Entries), []string{"c"})
}

// What another program makes of the layout, and its own members, do not count.
func TestChecksumSurvivesOtherWriters(t *testing.T) {
	d := newDesk(t, queue.Options{})
	e := queue.Entry{MID: "a", Text: "é <b>\u2028\x01\"", From: "s", Seq: 7, HasSeq: true, EnqueuedAt: entry("a").EnqueuedAt}
	d.must(func(held *lock.Record) error { return d.Enqueue(held, e) })
	list := generic(t, d.content())
	list[0]["tries"], list[0]["mood"] = 3, nil
	d.put(indented(t, list))
	if got := d.head(); !reflect.DeepEqual(queue.Known(got), e) {
		t.Fatalf("got %+v, want %+v", got, e)
	}
	list[0]["text"] = "another"
	d.put(indented(t, list))
	if _, err := d.headOr(); !errors.Is(err, queue.ErrCorrupt) {
		t.Fatalf("another text: got %v, want ErrCorrupt", err)
	}
	list[0]["crc"] = "mine"
	d.put(indented(t, list))
	if got := d.head(); got.Text != "another" {
		t.Fatalf("a member of another writer: got %+v", got)
	}
}

// Each byte of a claim is flipped: the message stays unconfirmed.
func TestEveryByteOfAClaimFlipped(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b")
	d.must(func(held *lock.Record) error { return d.Claim(held, "a") })
	path := filepath.Join(d.dir, queue.ClaimFile)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d.SetPatience(0)
	flips(string(data), func(bit int, flipped string) {
		if bit/8 > bytes.LastIndexByte(data, '}') && bit%101 > 0 && bit/8 < len(data)-1 {
			return // the spaces are many and alike
		}
		if err := os.WriteFile(path, []byte(flipped), 0o600); err != nil {
			t.Fatal(err)
		}
		entries, err := d.List()
		if err != nil || !entries[0].Unconfirmed() || entries[1].Unconfirmed() || !d.head().Unconfirmed() {
			t.Fatalf("bit %d: got %+v, %v, want the first unconfirmed", bit, entries, err)
		}
	})
}

// An id that is too long for a claim is named by its digest there.
func TestLongIDOfAnotherWriter(t *testing.T) {
	d := newDesk(t, queue.Options{})
	long, next := strings.Repeat("m", 5000), strings.Repeat("m", 4999)+"n"
	d.put(`[{"mid":"` + long + `","text":"t"},{"mid":"` + next + `","text":"t"}]`)
	a := &agent{answer: func(string) (queue.Answer, error) { return queue.Unconfirmed, errBusy }}
	if _, err := d.drain(a.handover()); !errors.Is(err, errBusy) {
		t.Fatalf("got %v, want the pass to stop at the agent", err)
	}
	other := openDesk(t, d.dir, queue.Options{})
	defer other.Close()
	entries, err := other.List()
	if err != nil || !entries[0].Unconfirmed() || entries[0].Attempts != 1 || entries[1].Unconfirmed() {
		t.Fatalf("got %v, %v, want the first claimed", entries, err)
	}
	other.must(func(held *lock.Record) error { return other.Unclaim(held, long) })
	a = &agent{}
	if _, err := other.drain(a.handover()); err != nil {
		t.Fatal(err)
	}
	equal(t, "handed", a.handed, []string{long, next})
	other.atRest(nil)
}
