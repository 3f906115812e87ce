package lock_test

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
)

func note(t *testing.T, d *lock.Dir) string {
	t.Helper()
	r := record(t, d)
	defer release(t, r)
	held := r.Note()
	if free := lock.NoteOf(d.Path()); free != held {
		t.Fatalf("got %q without the lock, %q with it", free, held)
	}
	return held
}

func leave(t *testing.T, d *lock.Dir, text string) {
	t.Helper()
	r := record(t, d)
	defer release(t, r)
	if err := r.SetNote(text); err != nil {
		t.Fatal(err)
	}
}

// A note is what a holder left last, and has nothing to do with changes.
func TestNoteIsForTheNextHolders(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, lock.Options{})
	if got := note(t, d); got != "" {
		t.Fatalf("got %q, want no note yet", got)
	}
	leave(t, d, "of one who changes nothing")
	if r := record(t, d); !r.Interrupted() || r.Restarted() {
		t.Fatal("got a lock file that says more than one that is empty")
	} else if err := errors.Join(r.Recovered(), r.Release()); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"a", strings.Repeat("x", lock.MaxNoteBytes), "shorter"} {
		leave(t, d, text)
		r := record(t, d)
		if r.Interrupted() {
			t.Fatal("got an interruption by a note")
		}
		change(t, r)
		release(t, r)
		if mine, others := note(t, d), note(t, open(t, dir, lock.Options{})); mine != text || others != text {
			t.Fatalf("got %q and %q, want %q", mine, others, text)
		}
	}
}

func TestNoteNeedsTheLock(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{})
	leave(t, d, "a note")
	r := record(t, d)
	if err := r.SetNote(strings.Repeat("x", lock.MaxNoteBytes+1)); err == nil {
		t.Error("got a note that is too long taken")
	}
	release(t, r)
	if err := r.SetNote("late"); !errors.Is(err, lock.ErrNotHeld) {
		t.Errorf("got %v, want it refused", err)
	}
	if got := r.Note(); got != "" {
		t.Errorf("got %q of a released lock, want nothing", got)
	}
	if got := note(t, d); got != "a note" {
		t.Errorf("got %q, want what was left", got)
	}
}

// What is not whole, or of another boot of the machine, is no note.
func TestDamagedNoteIsNone(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{})
	recovered(t, d)
	leave(t, d, "a note")
	path := d.Path() + "/record.lock"
	content, err := os.ReadFile(path)
	if err != nil || len(content) != 256 {
		t.Fatalf("got %d bytes, %v, want 256", len(content), err)
	}
	text := content[128 : 128+lock.MaxNoteBytes]
	foreign := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Checksum([]byte("another boot"), foreign), foreign, text)
	all := [][]byte{append(bytes.Clone(content[:128+lock.MaxNoteBytes]), fmt.Sprintf(" %08x\n", sum)...)}
	for at := 128; at < len(content); at++ {
		flipped := bytes.Clone(content)
		flipped[at] ^= 1
		all = append(all, flipped, content[:at])
	}
	for _, damaged := range all {
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := note(t, d); got != "" {
			t.Fatalf("got %q of %q, want none", got, damaged[128:])
		}
		if d.Interrupted() {
			t.Fatal("got an interruption, want the note to go alone")
		}
	}
}
