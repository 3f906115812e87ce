package queue_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

func reference(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// generic reads a list as any other program would.
func generic(t tester, content string) []map[string]any {
	t.Helper()
	var list []map[string]any
	if err := json.Unmarshal([]byte(content), &list); err != nil {
		t.Fatalf("%v in %q", err, content)
	}
	return list
}

// indented writes a list as the reference does.
func indented(t tester, list []map[string]any) string {
	t.Helper()
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		t.Fatalf("%v", err)
	}
	return string(data)
}

func TestReferenceFile(t *testing.T) {
	d := newDesk(t, queue.Options{})
	content := reference(t)
	d.put(content)
	want := generic(t, content)

	entries, err := d.List()
	if err != nil || len(entries) != 10 {
		t.Fatalf("got %d entries, %v, want 10", len(entries), err)
	}
	for i, e := range entries {
		from, _ := want[i]["from"].(string)
		if e.MID != want[i]["mid"] || e.Text != want[i]["text"] || e.From != from || (e.Dispatch != nil) != (want[i]["dispatch"] != nil) {
			t.Errorf("entry %d: got %+v, want %v", i, e, want[i])
		}
	}
	if n, err := d.Len(); n != 10 || err != nil {
		t.Fatalf("len: got %d, %v, want 10", n, err)
	}
	if d.content() != content {
		t.Fatal("a reader changed the file")
	}

	d.enqueue("new")
	got := generic(t, d.content())
	if !reflect.DeepEqual(got[:10], want) || got[10]["mid"] != "new" {
		t.Fatalf("after the first change: got %v, want the same and one more", got)
	}
	if lines := strings.Count(d.content(), "\n"); lines != 13 {
		t.Fatalf("got %d lines, want one for each entry and the brackets", lines)
	}
	a := &agent{}
	if _, err := d.drain(a.handover()); err != nil {
		t.Fatal(err)
	}
	equal(t, "handed", a.handed, append(mids(entries), "new"))
	d.atRest(nil)
}

func TestLayoutsOfOthers(t *testing.T) {
	for _, tt := range []struct {
		name, content string
		want          []string
		kept          string // after the first change
	}{
		{"one line", `[{"mid":"a","text":"t"},{"text":"t","mid":"b","x":[1,{"y":null}],"from":null}]`, []string{"a", "b"}, `{"text":"t","mid":"b","x":[1,{"y":null}],"from":null}`},
		{"no last newline", "[\n{\"mid\":\"a\",\"text\":\"t\"}\n]", []string{"a"}, ""},
		{"Windows", "[\r\n  {\"mid\":\"a\",\"text\":\"t\"}\r\n]\r\n", []string{"a"}, ""},
		{"blank between", "[\n{\"mid\":\"a\",\"text\":\"t\"},\n    \n{\"mid\":\"b\",\"text\":\"t\"}\n]\n", []string{"a", "b"}, ""},
		{"entry over lines behind one in a line", "[\n{\"mid\":\"a\",\"text\":\"t\"},\n{\n\"mid\":\"b\",\"text\":\"t\"}\n]\n", []string{"a", "b"}, ""},
		{"fields of other kinds", `[{"mid":"a","text":"t","seq":"x","enqueuedAt":5,"attributes":[1],"dispatch":null}]`, []string{"a"}, `"seq":"x","enqueuedAt":5,"attributes":[1],"dispatch":null`},
		{"name twice", `[{"mid":"x","text":"t","mid":"a"}]`, []string{"a"}, ""},
		{"lone surrogate", `[{"mid":"a","text":"\ud800"}]`, []string{"a"}, `"\ud800"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.put(tt.content)
			equal(t, "list", d.list(), tt.want)
			if n, err := d.Len(); n != len(tt.want) || err != nil {
				t.Fatalf("len: got %d, %v, want %d", n, err, len(tt.want))
			}
			d.enqueue("z")
			d.atRest(append(tt.want, "z"))
			if !strings.Contains(d.content(), tt.kept) {
				t.Fatalf("got %q, want %q kept", d.content(), tt.kept)
			}
			for _, mid := range tt.want {
				if got, err := d.headOr(); got != mid || err != nil {
					t.Fatalf("head: got %s, %v, want %s", got, err, mid)
				}
				d.remove(mid)
			}
			d.atRest([]string{"z"})
		})
	}
}

// An empty list of another writer means that nothing is owed, and the next holder of
// the lock restores the resting state.
func TestEmptyListOfOthers(t *testing.T) {
	for name, content := range map[string]string{"list": "[]", "lines": "[\n]\n", "spread": "[\n\n\n]\n", "spaced": " [ ] "} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, queue.Options{})
			d.must((*lock.Record).Recovered)
			d.put(content)
			equal(t, "list", d.list(), nil)
			if _, err := d.drain((&agent{}).handover()); err != nil {
				t.Fatal(err)
			}
			d.atRest(nil)
			d.put(content)
			d.enqueue("a")
			d.atRest([]string{"a"})
		})
	}
}

// Members that this package does not know survive a rebuild too.
func TestRebuildKeepsUnknownMembers(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.put(`[{"mid":"a","text":"t","from":"s","x":{"deep":[1,2]},"seq":"odd"},{"mid":"b","text":"u"}]`)
	in, err := d.Inspect()
	if err != nil {
		t.Fatal(err)
	}
	d.must(func(held *lock.Record) error { _, err := d.Rebuild(held, in.Entries); return err })
	got := generic(t, d.content())
	for _, e := range got {
		delete(e, "crc")
	}
	want := generic(t, `[{"mid":"a","text":"t","from":"s","x":{"deep":[1,2]},"seq":"odd"},{"mid":"b","text":"u","from":null}]`)
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}
}

// The reference replaces the file by a rename, without a word to the lock.
func TestRenameByAnotherWriterIsNoticed(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a", "b", "c")
	d.head()
	other := filepath.Join(d.dir, "other.tmp")
	// As long as the file that the handle knows.
	content := strings.Replace(d.content(), "text of a", "TEXT OF X", 1)
	content = strings.Replace(content, `"mid":"a"`, `"mid":"x"`, 1)
	sum := regexp.MustCompile(`,"crc":\d+`).FindString(content)
	content = strings.Replace(content, sum, strings.Repeat(" ", len(sum)), 1)
	if err := os.WriteFile(other, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, d.path()); err != nil {
		t.Fatal(err)
	}
	if err := d.hold(func(held *lock.Record) error { return d.Remove(held, "a") }); !errors.Is(err, queue.ErrNotPending) {
		t.Fatalf("got %v, want ErrNotPending", err)
	}
	if e := d.head(); e.MID != "x" || e.Text != "TEXT OF X" {
		t.Fatalf("head: got %+v, want x", e)
	}
	d.remove("x")
	d.enqueue("d")
	d.atRest([]string{"b", "c", "d"})
	if err := os.Remove(d.path()); err != nil {
		t.Fatal(err)
	}
	d.enqueue("e")
	d.atRest([]string{"e"})
}

// Two handles that share a hold, or take turns, see each other's changes.
func TestTwoHandles(t *testing.T) {
	d := newDesk(t, queue.Options{})
	other := openDesk(t, d.dir, queue.Options{Locks: d.Locks()})
	defer other.Close()
	d.enqueue("a", "b", "c")
	d.must(func(held *lock.Record) error {
		err := held.Begin()
		d.Head(held)
		other.Head(held)
		return errors.Join(err, other.Remove(held, "a"), d.Remove(held, "b"), other.Enqueue(held, entry("d")), d.Enqueue(held, entry("e")), held.Done())
	})
	d.atRest([]string{"c", "d", "e"})
	d.must(func(held *lock.Record) error {
		err := held.Begin()
		d.Head(held)
		err = errors.Join(err, other.Remove(held, "c"))
		if gone := d.Remove(held, "c"); !errors.Is(gone, queue.ErrNotPending) {
			err = errors.Join(err, fmt.Errorf("second removal: got %v, want ErrNotPending", gone))
		}
		return errors.Join(err, d.Remove(held, "d"), other.Enqueue(held, entry("f")), held.Done())
	})
	d.atRest([]string{"e", "f"})
	d.remove("e", "f")
	d.enqueue("c", "d", "e")
	for _, mid := range []string{"c", "d", "e"} {
		if e := other.head(); e.MID != mid {
			t.Fatalf("head: got %s, want %s", e.MID, mid)
		}
		d.remove(mid)
		other.enqueue(mid + "2")
	}
	d.atRest([]string{"c2", "d2", "e2"})
}
