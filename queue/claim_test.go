package queue_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

func TestAttemptsAreCounted(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a")
	a := &agent{answer: func(string) (queue.Answer, error) { return queue.Refused, errBusy }}
	for i := range 3 {
		d.drain(a.handover())
		if e := d.head(); e.Attempts != i+1 || e.LastError != errBusy.Error() {
			t.Fatalf("got %d attempts, %q, want %d", e.Attempts, e.LastError, i+1)
		}
	}
	a.answer = nil
	if _, err := d.drain(a.handover()); err != nil {
		t.Fatal(err)
	}
	d.enqueue("b")
	if e := d.head(); e.Attempts != 0 || e.LastError != "" {
		t.Fatalf("got %+v, want nothing of another message", e)
	}
}

func TestOnlyTheOldestHasAttempts(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b")
	for name, do := range map[string]func(*lock.Record) error{
		"claim":       func(held *lock.Record) error { return d.Claim(held, "b") },
		"refused":     func(held *lock.Record) error { return d.Refused(held, "b", "r") },
		"unconfirmed": func(held *lock.Record) error { return d.Unconfirmed(held, "b", "r") },
		"unclaim":     func(held *lock.Record) error { return d.Unclaim(held, "b") },
	} {
		if err := d.hold(do); !errors.Is(err, queue.ErrNotPending) {
			t.Errorf("%s: got %v, want ErrNotPending", name, err)
		}
	}
}

func TestLongReasonIsCut(t *testing.T) {
	d := newDesk(t, queue.Options{})
	mid := strings.Repeat("\x01", queue.MaxMIDBytes)
	d.enqueue(mid)
	reason := strings.Repeat("é\x00", 5000)
	d.must(func(held *lock.Record) error { return d.Refused(held, mid, reason) })
	other := openDesk(t, d.dir, queue.Options{})
	defer other.Close()
	if e := other.head(); e.Attempts != 1 || e.LastError == "" || e.Unconfirmed() {
		t.Fatalf("got %+v, want one attempt", e)
	}
	if info, err := os.Stat(filepath.Join(d.dir, queue.ClaimFile)); err != nil || info.Size() != 2048 || info.Mode().Perm() != 0o600 {
		t.Fatalf("got %v, %v, want 2048 bytes, 0600", info, err)
	}
}

func TestUnreadableClaimCountsAsOne(t *testing.T) {
	for name, content := range map[string]string{
		"empty": "", "cut": `{"mid":"a","att`, "zeros": strings.Repeat("\x00", 2048),
		"long": strings.Repeat(" ", 4096), "spaces": strings.Repeat(" ", 2048),
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.enqueue("a", "b")
			if err := os.WriteFile(filepath.Join(d.dir, queue.ClaimFile), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			entries, err := d.List()
			if err != nil || !entries[0].Unconfirmed() || entries[1].Unconfirmed() || entries[0].LastError == "" {
				t.Fatalf("list: got %+v, %v, want the first unconfirmed with a reason", entries, err)
			}
			if in, err := d.Inspect(); err != nil || len(in.Faults) != 1 || in.Faults[0].Kind != queue.LostNote || in.Damaged() {
				t.Fatalf("inspect: got %+v, %v, want the lost note", in, err)
			}
			a := &agent{}
			if _, err := d.drain(a.handover()); !errors.Is(err, queue.ErrUnconfirmed) {
				t.Fatalf("got %v, want ErrUnconfirmed", err)
			}
			if e := d.head(); !e.Unconfirmed() {
				t.Fatalf("got %+v, want it unconfirmed", e)
			}
			d.must(func(held *lock.Record) error { return d.Unclaim(held, "a") })
			if _, err := d.drain(a.handover()); err != nil {
				t.Fatal(err)
			}
			equal(t, "handed", a.handed, []string{"a", "b"})
		})
	}
}

// A rebuild replaces a note that makes no sense, keeps it aside, and leaves the oldest
// entry claimed, for nothing says that it was not.
func TestRebuildRenewsTheClaim(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b")
	path := filepath.Join(d.dir, queue.ClaimFile)
	if err := os.WriteFile(path, []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	var aside string
	d.must(func(held *lock.Record) (err error) {
		aside, err = d.Rebuild(held, []queue.Entry{entry("b")})
		return err
	})
	if kept, err := os.ReadFile(aside); err != nil || string(kept) != "?" {
		t.Errorf("aside: got %q, %v", kept, err)
	}
	if in, err := d.Inspect(); err != nil || in.Err() != nil || !in.Entries[0].Unconfirmed() {
		t.Errorf("got %+v, %v, want b claimed", in, err)
	}
}

// A broken claim goes with the entry that it may have been about.
func TestUnreadableClaimEndsWithItsEntry(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b")
	if err := os.WriteFile(filepath.Join(d.dir, queue.ClaimFile), []byte("?"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.remove("a")
	if e := d.head(); e.Unconfirmed() || e.LastError != "" {
		t.Fatalf("got %+v, want b free", e)
	}
	noLeftovers(t, d.dir)
}
