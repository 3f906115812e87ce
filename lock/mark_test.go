package lock_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/docket-go/docket/lock"
)

// mark makes a change that leaves m.
func mark(t *testing.T, d *lock.Dir, m lock.Mark) {
	t.Helper()
	r := record(t, d)
	if err := r.Begin(); err != nil {
		t.Fatal(err)
	}
	r.SetMark(m)
	if err := r.Done(); err != nil {
		t.Fatal(err)
	}
	release(t, r)
}

// wantMark fails unless the next holder finds m, or none if m is the zero value.
func wantMark(t *testing.T, d *lock.Dir, m lock.Mark) {
	t.Helper()
	r := record(t, d)
	defer release(t, r)
	if got, ok := r.Mark(); got != m || ok != (m != lock.Mark{}) {
		t.Fatalf("got mark %+v, %v, want %+v", got, ok, m)
	}
}

func TestMarkIsForTheNextHolders(t *testing.T) {
	dir := t.TempDir()
	d := open(t, dir, lock.Options{})
	recovered(t, d)
	wantMark(t, d, lock.Mark{})
	for _, m := range []lock.Mark{{Size: 1, From: 2, Tail: 3}, {Size: 1 << 62, From: 1<<62 + 1, Tail: 1<<32 - 1}} {
		mark(t, d, m)
		wantMark(t, d, m)
		wantMark(t, open(t, dir, lock.Options{}), m)

		// Changes of other files leave it, and so does the end of one that was found complete.
		r := record(t, d)
		change(t, r)
		if err := r.Recovered(); err != nil {
			t.Fatal(err)
		}
		release(t, r)
		wantMark(t, d, m)
	}
}

// A mark is of the change that set it. If that was not completed, nobody knows how the
// file was left, until who recovers says so.
func TestMarkEndsWithAnInterruption(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{})
	recovered(t, d)
	mark(t, d, lock.Mark{Size: 7})
	for _, next := range []lock.Mark{{}, {Size: 8}} {
		r := record(t, d)
		if err := r.Begin(); err != nil {
			t.Fatal(err)
		}
		release(t, r)
		wantMark(t, d, lock.Mark{})
		r = record(t, d)
		if next != (lock.Mark{}) {
			r.SetMark(next)
		}
		if err := r.Recovered(); err != nil {
			t.Fatal(err)
		}
		release(t, r)
		wantMark(t, d, next)
	}
}

// A holder who knows nothing of marks writes the first line only, and raises the
// generation in it. What it left of the file is not what the mark says.
func TestMarkOfBeforeAnotherHolderIsNone(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{})
	recovered(t, d)
	mark(t, d, lock.Mark{Size: 7})
	content, err := os.ReadFile(d.Path() + "/record.lock")
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, d)
	before, after := fmt.Sprintf("%020d", r.Generation()), fmt.Sprintf("%020d", r.Generation()+1)
	release(t, r)
	content = bytes.Replace(content, []byte(before), []byte(after), 1)
	if err := os.WriteFile(d.Path()+"/record.lock", content, 0o600); err != nil {
		t.Fatal(err)
	}
	wantMark(t, d, lock.Mark{})
	r = record(t, d)
	if r.Interrupted() {
		t.Fatal("got an interruption, want the mark to go alone")
	}
	release(t, r)
	mark(t, d, lock.Mark{Size: 8})
	wantMark(t, d, lock.Mark{Size: 8})
}

// Whatever becomes of the bytes of a mark, it says what was set, or nothing; and the line
// before it is what it was.
func TestDamagedMarkIsNone(t *testing.T) {
	d := open(t, t.TempDir(), lock.Options{})
	recovered(t, d)
	mark(t, d, lock.Mark{Size: 7, From: 5, Tail: 3})
	path := d.Path() + "/record.lock"
	content, err := os.ReadFile(path)
	if err != nil || len(content) != 128 {
		t.Fatalf("got %q, %v, want 128 bytes", content, err)
	}
	for at := 64; at < 120; at++ {
		if at == 111 {
			continue // the space before the checksum says nothing
		}
		flipped := bytes.Clone(content)
		flipped[at] ^= 1
		for name, damaged := range map[string][]byte{"cut": content[:at], "flipped": flipped} {
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			r := record(t, d)
			if m, ok := r.Mark(); ok || r.Interrupted() {
				t.Fatalf("%s at %d: got %+v, interrupted %v, want no mark", name, at, m, r.Interrupted())
			}
			release(t, r)
		}
	}
}
