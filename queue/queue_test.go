package queue_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

func TestRestingStateIsNoFile(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.atRest(nil)
	d.enqueue("a")
	if owed, err := d.Owed(); !owed || err != nil {
		t.Fatalf("owed: got %v, %v, want true", owed, err)
	}
	d.atRest([]string{"a"})
	d.remove("a")
	d.atRest(nil)
	if owed, err := d.Owed(); owed || err != nil {
		t.Fatalf("owed: got %v, %v, want false", owed, err)
	}
	if got := d.list(); got != nil {
		t.Fatalf("list: got %v, want none", got)
	}
}

func TestEntryRoundTrip(t *testing.T) {
	d := newDesk(t, queue.Options{})
	want := queue.Entry{
		MID: "m<1>", From: "lead", FromLife: 3, Text: "a & b \u2028 <c>\n\x00\ttab \"quoted\" ünï 漢字 🎉",
		Attributes: map[string]string{"k": "v", "": "empty"},
		Dispatch:   &queue.Dispatch{Operation: "merge", RequestDigest: strings.Repeat("0f", 32)},
		Seq:        7, HasSeq: true, EnqueuedAt: time.UnixMilli(1_800_000_000_123).UTC(),
	}
	d.must(func(held *lock.Record) error { return d.Enqueue(held, want) })
	entries, err := d.List()
	if err != nil || len(entries) != 1 || !reflect.DeepEqual(entries[0], want) {
		t.Fatalf("got %+v, %v, want %+v", entries, err, want)
	}
	if got := d.head(); !reflect.DeepEqual(got, want) {
		t.Fatalf("head: got %+v, want %+v", got, want)
	}
	if strings.Contains(d.content(), `\u003c`) {
		t.Fatalf("HTML is escaped: %s", d.content())
	}
	info, err := os.Stat(d.path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("mode: got %v, %v, want 0600", info.Mode(), err)
	}
}

func TestEntryFormat(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a")
	e := entry("b")
	e.From, e.FromLife, e.Seq, e.HasSeq = "lead", 2, 3, true
	e.Dispatch = &queue.Dispatch{Operation: "op", RequestDigest: "d"}
	e.Attributes = map[string]string{"z": "1", "y": "2"}
	d.must(func(held *lock.Record) error { return d.Enqueue(held, e) })
	want := `[
{"mid":"a","text":"text of a","from":null,"enqueuedAt":"2027-01-15T08:00:00.123Z","crc":2919762820},
{"mid":"b","text":"text of b","from":"lead","fromLife":2,"dispatch":{"operation":"op","requestDigest":"d"},"attributes":{"y":"2","z":"1"},"seq":3,"enqueuedAt":"2027-01-15T08:00:00.123Z","crc":904515663}
]
`
	if got := d.content(); got != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	d.remove("a")
	first, _, _ := strings.Cut(want[2:], "\n")
	want = strings.Replace(want, first, strings.Repeat(" ", len(first)), 1)
	if got := d.content(); got != want {
		t.Fatalf("after removal: got\n%s\nwant\n%s", got, want)
	}
}

func TestInvalidEntry(t *testing.T) {
	for _, tt := range []struct {
		name string
		e    queue.Entry
	}{
		{"no id", queue.Entry{Text: "t"}},
		{"long id", queue.Entry{MID: strings.Repeat("m", queue.MaxMIDBytes+1)}},
		{"text", queue.Entry{MID: "m", Text: "\xff"}},
		{"sender", queue.Entry{MID: "m", From: "\xff"}},
		{"attribute", queue.Entry{MID: "m", Attributes: map[string]string{"k": "\xff"}}},
		{"operation", queue.Entry{MID: "m", Dispatch: &queue.Dispatch{Operation: "\xff"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			for name, add := range map[string]func(*lock.Record, queue.Entry) error{"reserve": d.Reserve, "enqueue": d.Enqueue} {
				if err := d.hold(func(held *lock.Record) error { return add(held, tt.e) }); !errors.Is(err, queue.ErrInvalid) {
					t.Errorf("%s: got %v, want ErrInvalid", name, err)
				}
			}
			d.atRest(nil)
		})
	}
}

func TestLockIsAsked(t *testing.T) {
	d, other := newDesk(t, queue.Options{}), newDesk(t, queue.Options{})
	d.enqueue("a")
	held, err := other.Locks().Record(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	_, _, headErr := d.Head(held)
	_, rebuildErr := d.Rebuild(held, nil)
	for name, err := range map[string]error{
		"head": headErr, "rebuild": rebuildErr,
		"enqueue": d.Enqueue(held, entry("b")), "remove": d.Remove(held, "a"), "reserve": d.Reserve(held, entry("b")),
		"claim": d.Claim(held, "a"), "none": d.Enqueue(nil, entry("b")),
	} {
		if !errors.Is(err, lock.ErrNotHeld) {
			t.Errorf("%s: got %v, want ErrNotHeld", name, err)
		}
	}
	d.atRest([]string{"a"})
}

func TestMaxPending(t *testing.T) {
	d := newDesk(t, queue.Options{MaxPending: 2})
	d.enqueue("a", "b")
	err := d.hold(func(held *lock.Record) error { return d.Reserve(held, entry("c")) })
	if !errors.Is(err, queue.ErrFull) {
		t.Fatalf("reserve: got %v, want ErrFull", err)
	}
	other := openDesk(t, d.dir, queue.Options{MaxPending: 2})
	defer other.Close()
	other.remove("a")
	other.enqueue("c")
	err = d.hold(func(held *lock.Record) error { return d.Enqueue(held, entry("d")) })
	if !errors.Is(err, queue.ErrFull) {
		t.Fatalf("enqueue: got %v, want ErrFull", err)
	}
	d.atRest([]string{"b", "c"})
}

func TestRemove(t *testing.T) {
	for _, tt := range []struct {
		name   string
		remove []string
		left   []string
		err    error
	}{
		{"oldest", []string{"a"}, []string{"b", "c", "d"}, nil},
		{"middle", []string{"c"}, []string{"a", "b", "d"}, nil},
		{"newest", []string{"d"}, []string{"a", "b", "c"}, nil},
		{"several", []string{"d", "a", "b"}, []string{"c"}, nil},
		{"all", []string{"a", "b", "c", "d"}, nil, nil},
		{"none", nil, []string{"a", "b", "c", "d"}, nil},
		{"unknown", []string{"x"}, []string{"a", "b", "c", "d"}, queue.ErrNotPending},
		{"one unknown", []string{"a", "x"}, []string{"a", "b", "c", "d"}, queue.ErrNotPending},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.enqueue("a", "b", "c", "d")
			if err := d.hold(func(held *lock.Record) error { return d.Remove(held, tt.remove...) }); !errors.Is(err, tt.err) {
				t.Fatalf("got %v, want %v", err, tt.err)
			}
			d.atRest(tt.left)
			equal(t, "list", d.list(), tt.left)
			if n, err := d.Len(); n != len(tt.left) || err != nil {
				t.Fatalf("len: got %d, %v, want %d", n, err, len(tt.left))
			}
			d.enqueue("e")
			d.atRest(append(tt.left, "e"))
			noLeftovers(t, d.dir)
		})
	}
}

// noLeftovers fails if anything but the queue's files and the locks is there. The list
// may have a second name, which it leaves to the next.
func noLeftovers(t tester, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatalf("%v", err)
	}
	for _, f := range files {
		switch f.Name() {
		case queue.ListFile, queue.ClaimFile, "record.lock", "delivery.lock":
		case queue.ListFile + ".new":
			if there, err := f.Info(); err != nil || !isList(t, dir, there) {
				t.Fatalf("left over: %s, which is not the list: %v", f.Name(), err)
			}
		default:
			t.Fatalf("left over: %s", f.Name())
		}
	}
}

// isList reports whether a file is the list of the queue in dir.
func isList(t tester, dir string, there os.FileInfo) bool {
	t.Helper()
	list, err := os.Lstat(filepath.Join(dir, queue.ListFile))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return os.SameFile(list, there)
}

func TestRemoveOfNothing(t *testing.T) {
	d := newDesk(t, queue.Options{})
	if err := d.hold(func(held *lock.Record) error { return d.Remove(held, "a") }); !errors.Is(err, queue.ErrNotPending) {
		t.Fatalf("got %v, want ErrNotPending", err)
	}
}

func TestClosedDirectory(t *testing.T) {
	if _, err := queue.Open(t.TempDir()+"/gone", queue.Options{}); !errors.Is(err, lock.ErrClosed) {
		t.Fatalf("got %v, want ErrClosed", err)
	}
}

func TestCompaction(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.SetCompactAt(300)
	var all []string
	for i := range 40 {
		all = append(all, string(rune('A'+i)))
	}
	d.enqueue(all...)
	longest := int64(0)
	for i, mid := range all {
		d.remove(mid)
		d.atRest(all[i+1:])
		if info, err := os.Stat(d.path()); err == nil {
			longest = max(longest, int64(len(strings.TrimLeft(d.content()[2:], " \n"))))
			if blank := info.Size() - int64(len(strings.TrimLeft(d.content()[2:], " \n"))); blank > 1500 {
				t.Fatalf("%d bytes of blank after %d removals", blank, i+1)
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	noLeftovers(t, d.dir)
}

// A line may be longer than any buffer.
func TestLargeEntries(t *testing.T) {
	d := newDesk(t, queue.Options{})
	other := openDesk(t, d.dir, queue.Options{})
	defer other.Close()
	for _, mid := range []string{"a", "b", "c"} {
		e := entry(mid)
		e.Text = strings.Repeat(mid, 3<<20)
		d.must(func(held *lock.Record) error { return errors.Join(d.Reserve(held, e), d.Enqueue(held, e)) })
	}
	for _, mid := range []string{"a", "b", "c"} {
		if e := other.head(); e.MID != mid || len(e.Text) != 3<<20 {
			t.Fatalf("got %s with %d bytes, want %s", e.MID, len(e.Text), mid)
		}
		if n, err := other.Len(); err != nil || n != int('d'-mid[0]) {
			t.Fatalf("len: got %d, %v", n, err)
		}
		other.remove(mid)
	}
	d.atRest(nil)
}
