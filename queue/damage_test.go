package queue_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

const (
	lineA = `{"mid":"a","text":"text of a","from":null}`
	lineB = `{"mid":"b","text":"text of b","from":null}`
	lineC = `{"mid":"c","text":"text of c","from":null}`
)

func TestDamageIsNeverEmpty(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		want          []string // what can be read
	}{
		{"empty file", "", nil},
		{"newline", "\n", nil},
		{"null", "null", nil},
		{"object", "{}", nil},
		{"string", `"x"`, nil},
		{"text", "nothing to see\n", nil},
		{"zeros", strings.Repeat("\x00", 600), nil},
		{"number in the list", "[1]", nil},
		{"no text", `[{"mid":"a"}]`, nil},
		{"no id", `[{"text":"t"}]`, nil},
		{"empty id", `[{"mid":"","text":"t"}]`, nil},
		{"sender of another kind", `[{"mid":"a","text":"t","from":3}]`, nil},
		// Handing it over as if it had no key could do it twice.
		{"dispatch of another kind", `[{"mid":"a","text":"t","dispatch":3}]`, nil},
		{"not UTF-8", "[\n{\"mid\":\"a\",\"text\":\"\xff\"}\n]\n", nil},
		{"two lists", `[{"mid":"a","text":"t"}][]`, []string{"a"}},
		{"middle", "[\n" + lineA + ",\n" + `{"mid":"b",?` + ",\n" + lineC + "\n]\n", []string{"a", "c"}},
		{"zeros in the middle", "[\n" + lineA + ",\n\x00\x00\x00\n" + lineC + "\n]\n", []string{"a", "c"}},
		{"comma lost", "[\n" + lineA + "\n" + lineC + "\n]\n", []string{"a", "c"}},
		{"comma too many", "[\n" + lineA + ",\n]\n", []string{"a"}},
		{"brackets lost", lineA, []string{"a"}},
		{"opening lost", lineA + ",\n" + lineB + "\n]\n", []string{"a", "b"}},
		{"pretty-printed, cut", "[\n  {\n    \"mid\": \"a\",\n    \"text\": \"t\"\n  },\n  {\n    \"mid\": \"b\",", []string{"a"}},
		{"pretty-printed, middle", "[\n  {\n    \"mid\": \"a\",\n    \"text\": \"t\"\n  },\n  {\n    \"mi", []string{"a"}},
		{"pretty-printed, healed behind", "[\n  {\n    \"mid\": \"a\"\n    \"text\": \"t\"\n  },\n  {\n    \"mid\": \"b\",\n    \"text\": \"t\"\n  }\n]\n", []string{"b"}},
		{"nothing but the opening", "[\n", nil},
		{"nothing but blanks", "[\n     \n   \n]\n", nil},
		{"nothing but blanks, cut", "[\n       \n", nil},
		{"nothing but a part", "[\n" + lineA[:20], nil},
		{"nothing but the end of one", "[\n       }\n]\n", nil},
		{"deep", "[" + strings.Repeat("[", 1<<20), nil},
		{"deep inside", `[{"mid":"a","text":"t","x":` + strings.Repeat("[", 1<<20) + strings.Repeat("]", 1<<20) + `}]`, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.put(tt.content)
			entries, err := d.List()
			var corrupt *queue.CorruptError
			if !errors.As(err, &corrupt) || !errors.Is(err, queue.ErrCorrupt) || corrupt.Path != d.path() {
				t.Fatalf("list: got %v, want a CorruptError", err)
			}
			equal(t, "entries beside the error", mids(entries), tt.want)
			if _, err := d.Len(); !errors.Is(err, queue.ErrCorrupt) {
				t.Errorf("len: got %v, want ErrCorrupt", err)
			}
			if owed, err := d.Owed(); !owed || err != nil {
				t.Errorf("owed: got %v, %v, want true", owed, err)
			}
			d.untouched(t, tt.content)
			d.rebuilt(t, tt.content, tt.want)
		})
	}
}

// untouched fails if an ordinary operation works on the file or changes it.
func (d *desk) untouched(t *testing.T, content string) {
	t.Helper()
	for name, do := range map[string]func(held *lock.Record) error{
		"enqueue": func(held *lock.Record) error { return d.Enqueue(held, entry("z")) },
		"reserve": func(held *lock.Record) error { return d.Reserve(held, entry("z")) },
		"remove":  func(held *lock.Record) error { return d.Remove(held, "a") },
		"claim":   func(held *lock.Record) error { return d.Claim(held, "a") },
	} {
		if err := d.hold(do); !errors.Is(err, queue.ErrCorrupt) {
			t.Errorf("%s: got %v, want ErrCorrupt", name, err)
		}
	}
	if _, err := d.drain((&agent{}).handover()); !errors.Is(err, queue.ErrCorrupt) {
		t.Errorf("drain: got %v, want ErrCorrupt", err)
	}
	if d.content() != content {
		t.Errorf("the file was changed")
	}
}

// rebuilt fails if a rebuild does not keep what can be read and a copy of the rest.
func (d *desk) rebuilt(t *testing.T, content string, want []string) {
	t.Helper()
	in, err := d.Inspect()
	if err != nil {
		t.Fatal(err)
	}
	var aside [2]string
	for i := range aside {
		d.put(content)
		d.must(func(held *lock.Record) error { aside[i], err = d.Rebuild(held, in.Entries); return err })
	}
	for _, path := range aside {
		if copied, err := os.ReadFile(path); err != nil || string(copied) != content {
			t.Errorf("aside %s: got %d bytes, %v, want the damaged file", path, len(copied), err)
		}
	}
	if aside[0] == aside[1] {
		t.Errorf("the second copy took the place of the first")
	}
	d.atRest(want)
	equal(t, "list", d.list(), want)
}

// Behind a clean lock nobody died: a file that was cut, even if only separators are
// missing, is as damaged as any other.
func TestCutBehindACleanLock(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b", "c")
	d.remove("a")
	whole := d.content()
	for end := range len(whole) - len("\n") {
		d.put(whole)
		if end%2 == 0 {
			d.head() // the handle knows the file
		}
		d.must((*lock.Record).Recovered)
		d.put(whole[:end])
		d.untouched(t, whole[:end])
		if _, err := d.List(); !errors.Is(err, queue.ErrCorrupt) {
			t.Fatalf("cut at %d: list: got %v, want ErrCorrupt", end, err)
		}
	}
}

// A byte that is lost costs at most the entry in which it stood, or, with the end of a
// line, the one behind it.
func TestEveryByteLost(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.SetPatience(0)
	d.enqueue("a", "b", "c", "d")
	d.remove("a")
	content := d.content()
	for i := range content {
		for name, damaged := range map[string]string{
			"zeroed": content[:i] + "\x00" + content[i+1:],
			"cut":    content[:i],
		} {
			d.put(damaged)
			entries, err := d.List()
			if !errors.Is(err, queue.ErrCorrupt) && !(name == "cut" && i == len(content)-1) {
				t.Fatalf("byte %d %s: got %v, want ErrCorrupt", i, name, err)
			}
			for _, mid := range []string{"b", "c", "d"} {
				start := strings.Index(content, `{"mid":"`+mid)
				end := start + strings.Index(content[start:], "}")
				harmed := i >= start-1 && i <= end || name == "cut" && i <= end
				if !harmed && !slices.Contains(mids(entries), mid) {
					t.Fatalf("byte %d %s: %s is gone from %q", i, name, mid, damaged)
				}
			}
		}
	}
}

// A full disk leaves the file as it was, and the next write is whole.
func TestFailedWrites(t *testing.T) {
	full := fmt.Errorf("test: %w", syscall.ENOSPC)
	for _, depth := range []int{0, 1, 3} {
		for written := 0; written < 60; written += 3 {
			d := newDesk(t, queue.Options{})
			all := []string{"a", "b", "c"}[:depth]
			d.enqueue(all...)
			before := d.content()
			failed := false
			d.SetWriteAt(func(f *os.File, p []byte, at int64) (int, error) {
				if failed {
					return f.WriteAt(p, at)
				}
				failed = true
				_, err := f.WriteAt(p[:min(written, len(p))], at)
				return 0, errors.Join(full, err)
			})
			err := d.hold(func(held *lock.Record) error { return d.Enqueue(held, entry("z")) })
			var write *queue.WriteError
			if !errors.As(err, &write) || !write.Before || !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("depth %d, %d written: got %v, want a WriteError that left the file as it was", depth, written, err)
			}
			if d.content() != before {
				t.Fatalf("depth %d, %d written: got %q, want %q", depth, written, d.content(), before)
			}
			d.enqueue("y")
			d.atRest(append(all, "y"))
			noLeftovers(t, d.dir)
		}
	}
}

// A removal that stops half way is left to the next holder of the lock.
func TestFailedRemoval(t *testing.T) {
	d, b := newDesk(t, queue.Options{}), &book{accepted: []string{"a", "b"}}
	d.enqueue("a", "b")
	d.must((*lock.Record).Recovered)
	d.SetWriteAt(func(f *os.File, p []byte, at int64) (int, error) {
		_, err := f.WriteAt(p[:10], at)
		return 0, errors.Join(syscall.EIO, err)
	})
	err := d.hold(func(held *lock.Record) error { return d.Remove(held, "a") })
	var write *queue.WriteError
	if !errors.As(err, &write) || write.Before || !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v, want a WriteError of an unfinished change", err)
	}
	d.SetWriteAt(nil)
	if _, err := d.List(); !errors.Is(err, queue.ErrCorrupt) {
		t.Fatalf("list: got %v, want ErrCorrupt", err)
	}
	b.ended = []string{"a"}
	b.recover(d)
	d.atRest([]string{"b"})
}

// A program that writes into the file without a word must not lose its entry to the
// removal of what seems to be the last one.
func TestLastRemovalLooksAtTheWholeFile(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b")
	both := d.content()
	d.remove("a")
	d.head()
	f, err := os.OpenFile(d.path(), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(both); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := d.hold(func(held *lock.Record) error { return d.Remove(held, "b") }); !errors.Is(err, queue.ErrCorrupt) {
		t.Fatalf("got %v, want ErrCorrupt", err)
	}
	if d.content() != both {
		t.Fatalf("got %q, want %q", d.content(), both)
	}
	if e := d.head(); e.MID != "a" {
		t.Fatalf("head: got %s, want a", e.MID)
	}
}

// Without room for a new file a large blank head stays, and delivery goes on.
func TestFailedCompaction(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.SetCompactAt(10)
	d.enqueue("a", "b", "c")
	d.SetWriteAt(func(f *os.File, p []byte, at int64) (int, error) {
		if at == 0 {
			return 0, syscall.ENOSPC // only a new file is written from its start
		}
		return f.WriteAt(p, at)
	})
	d.remove("a")
	d.atRest([]string{"b", "c"})
	noLeftovers(t, d.dir)
}

func TestReserve(t *testing.T) {
	for _, depth := range []int{0, 1, 300} {
		d := newDesk(t, queue.Options{})
		var all []string
		for i := range depth {
			all = append(all, fmt.Sprintf("m%03d", i))
		}
		d.enqueue(all...)
		before := d.content()
		e := entry("z")
		e.Text = strings.Repeat("z", 100_000)
		d.must(func(held *lock.Record) error { return d.Reserve(held, e) })
		if d.content() != before {
			t.Fatalf("depth %d: Reserve changed the file", depth)
		}
		// In another hold, and for another entry, it is of no consequence.
		d.enqueue("y")
		d.must(func(held *lock.Record) error {
			return errors.Join(d.Reserve(held, e), d.Enqueue(held, e))
		})
		d.atRest(append(all, "y", "z"))
		noLeftovers(t, d.dir)
	}
}
