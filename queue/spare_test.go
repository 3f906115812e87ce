//go:build unix

package queue_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

func (d *desk) spare() string { return d.path() + ".new" }

// fileAt returns what stands at a path, or nil.
func fileAt(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return info
}

// One file is the list again and again, whoever adds and removes, until it is too long.
// Each time the list holds what it should and nothing of the one before.
func TestListsFollowInOneFile(t *testing.T) {
	d := newDesk(t, queue.Options{})
	other := openDesk(t, d.dir, queue.Options{})
	defer other.Close()
	by := []*desk{d, other}
	files := 0
	var file os.FileInfo
	for i := range 300 {
		// Each entry makes the next shorter, longer, or span pages; others have seen the list.
		e := entry(fmt.Sprintf("m%03d", i))
		e.Text = strings.Repeat("x", i*131%900)
		adds, removes := by[i%2], by[i/2%2]
		adds.must(func(held *lock.Record) error {
			return errors.Join(adds.Reserve(held, e), adds.Enqueue(held, e))
		})
		d.atRest([]string{e.MID})
		if got := by[i/4%2].head(); got.Text != e.Text {
			t.Fatalf("got %+v, want %+v", got, e)
		}
		if i%3 == 0 {
			adds.enqueue("next")
			removes.remove(e.MID)
			e.MID = "next"
			d.atRest([]string{"next"})
		}
		now := fileAt(t, d.path())
		if file == nil || !os.SameFile(file, now) {
			files++
		}
		file = now
		removes.remove(e.MID)
		d.atRest(nil)
		if spare := fileAt(t, d.spare()); spare != nil && spare.Size() > 16<<10 {
			t.Fatalf("%d bytes are kept", spare.Size())
		}
	}
	if files > 30 {
		t.Errorf("got %d files for 300 lists, want few", files)
	}
}

// A long list leaves nothing behind.
func TestLongListIsNotKept(t *testing.T) {
	d := newDesk(t, queue.Options{})
	e := entry("a")
	e.Text = strings.Repeat("x", 20_000)
	d.must(func(held *lock.Record) error { return d.Enqueue(held, e) })
	d.remove("a")
	if info := fileAt(t, d.spare()); info != nil {
		t.Errorf("%d bytes are left", info.Size())
	}
	d.enqueue("b")
	d.atRest([]string{"b"})
}

// What is no file that only this queue has is not written to: a link that leads
// outside, a second name elsewhere, a file that others may read.
func TestSpareOfOthers(t *testing.T) {
	for name, plant := range map[string]func(path, outside string) error{
		"symlink":     func(path, outside string) error { return os.Symlink(outside, path) },
		"second name": func(path, outside string) error { return os.Link(outside, path) },
		"readable":    func(path, _ string) error { return os.WriteFile(path, nil, 0o644) },
		"garbage":     func(path, _ string) error { return os.WriteFile(path, []byte("{\n\n?"), 0o600) },
		"one byte":    func(path, _ string) error { return os.WriteFile(path, []byte("?"), 0o600) },
		"a list":      func(path, _ string) error { return os.WriteFile(path, []byte("[\n"+lineA+"\n]\n"), 0o600) },
		"a pipe":      obstacles["pipe"],
		"a directory": obstacles["directory"],
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			outside := filepath.Join(dir, "outside")
			if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
				t.Fatal(err)
			}
			d := newDesk(t, queue.Options{})
			for range 2 { // the second time the handle knows the file
				d.enqueue("a")
				d.remove("a")
				if err := errors.Join(os.RemoveAll(d.spare()), plant(d.spare(), outside)); err != nil {
					t.Fatal(err)
				}
			}
			d.enqueue("b")
			d.atRest([]string{"b"})
			if mode := fileAt(t, d.path()).Mode().Perm(); mode != 0o600 {
				t.Errorf("got mode %v, want 0600", mode)
			}
			if got, err := os.ReadFile(outside); err != nil || string(got) != "mine" {
				t.Errorf("outside: got %q, %v", got, err)
			}
		})
	}
}

// The file that this handle has open may have been written to by anybody.
func TestSpareThatWasWrittenTo(t *testing.T) {
	for _, content := range []string{"", "?", strings.Repeat("?", 10_000)} {
		d := newDesk(t, queue.Options{})
		for range 2 {
			d.enqueue("a")
			d.remove("a")
			if err := os.WriteFile(d.spare(), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d.enqueue("b")
		d.atRest([]string{"b"})
	}
}

// A list that has a second name elsewhere, such as in a copy made of links, is not
// written to once nothing is owed.
func TestSpareThatWasLinked(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.enqueue("a")
	kept := filepath.Join(t.TempDir(), "kept")
	if err := os.Link(d.path(), kept); err != nil {
		t.Fatal(err)
	}
	before := d.content()
	d.remove("a")
	d.enqueue("b")
	d.atRest([]string{"b"})
	if got, err := os.ReadFile(kept); err != nil || string(got) != before {
		t.Errorf("got %q, %v, want %q", got, err, before)
	}
}

// Where a file cannot have two names the first list is renamed, as any other.
func TestFirstListWithoutLinks(t *testing.T) {
	d := newDesk(t, queue.Options{})
	d.SetTrouble(func(call, _ string) error {
		if call == "link" {
			return errors.ErrUnsupported
		}
		return nil
	})
	for range 3 {
		d.enqueue("a", "b")
		d.atRest([]string{"a", "b"})
		if fileAt(t, d.spare()) != nil {
			t.Error("the draft is still there")
		}
		d.remove("a")
		d.remove("b")
		d.atRest(nil)
	}
}

// Who reads without a lock sees one of the lists that follow each other, or none.
func TestReadersBesideShortLists(t *testing.T) {
	d := newDesk(t, queue.Options{})
	reader := openDesk(t, d.dir, queue.Options{})
	defer reader.Close()
	reader.SetPatience(time.Minute)
	done, read := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-done:
				read <- nil
				return
			default:
			}
			entries, err := reader.List()
			if err == nil && len(entries) > 1 {
				err = fmt.Errorf("%d entries", len(entries))
			}
			if err != nil {
				read <- err
				return
			}
		}
	}()
	for i := range 1000 {
		mid := fmt.Sprintf("m%d", i)
		d.enqueue(mid)
		d.remove(mid)
	}
	close(done)
	if err := <-read; err != nil {
		t.Error(err)
	}
}
