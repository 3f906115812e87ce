package queue_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/queue"
)

// tester is what the helpers need of a testing.T, testing.B or rapid.T.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// A desk is one session directory with a handle on its queue.
type desk struct {
	*queue.Queue
	t   tester
	dir string
}

func newDesk(t testing.TB, o queue.Options) *desk {
	t.Helper()
	d := openDesk(t, t.TempDir(), o)
	t.Cleanup(func() { d.Close() })
	return d
}

func openDesk(t tester, dir string, o queue.Options) *desk {
	t.Helper()
	q, err := queue.Open(dir, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	q.SetPatience(time.Millisecond)
	return &desk{q, t, dir}
}

func (d *desk) path() string { return filepath.Join(d.dir, queue.ListFile) }

// hold runs do under the record lock.
func (d *desk) hold(do func(held *lock.Record) error) (err error) {
	d.t.Helper()
	held, err := d.Locks().Record(context.Background())
	if err != nil {
		d.t.Fatalf("record lock: %v", err)
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	return do(held)
}

func (d *desk) must(do func(held *lock.Record) error) {
	d.t.Helper()
	if err := d.hold(do); err != nil {
		d.t.Fatalf("got error %v, want none", err)
	}
}

func entry(mid string) queue.Entry {
	return queue.Entry{MID: mid, Text: "text of " + mid, EnqueuedAt: time.UnixMilli(1_800_000_000_123).UTC()}
}

func (d *desk) enqueue(mids ...string) {
	d.t.Helper()
	for _, mid := range mids {
		d.must(func(held *lock.Record) error { return d.Enqueue(held, entry(mid)) })
	}
}

func (d *desk) remove(mids ...string) {
	d.t.Helper()
	d.must(func(held *lock.Record) error { return d.Remove(held, mids...) })
}

// list returns the mids that are owed.
func (d *desk) list() []string {
	d.t.Helper()
	entries, err := d.List()
	if err != nil {
		d.t.Fatalf("list: %v", err)
	}
	return mids(entries)
}

func mids(entries []queue.Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.MID)
	}
	return all
}

// head returns the oldest entry, which must be there.
func (d *desk) head() queue.Entry {
	d.t.Helper()
	var e queue.Entry
	d.must(func(held *lock.Record) error {
		var ok bool
		var err error
		if e, ok, err = d.Head(held); err == nil && !ok {
			err = errors.New("nothing is owed")
		}
		return err
	})
	return e
}

func (d *desk) put(content string) {
	d.t.Helper()
	if err := os.WriteFile(d.path(), []byte(content), 0o600); err != nil {
		d.t.Fatalf("%v", err)
	}
}

func (d *desk) content() string {
	d.t.Helper()
	data, err := os.ReadFile(d.path())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		d.t.Fatalf("%v", err)
	}
	return string(data)
}

// atRest fails unless the file is a valid JSON list of the mids for any reader, or
// absent when there are none.
func (d *desk) atRest(want []string) {
	d.t.Helper()
	content := d.content()
	if len(want) == 0 {
		if _, err := os.Lstat(d.path()); !errors.Is(err, os.ErrNotExist) {
			d.t.Fatalf("nothing is owed and the file is there: %q", content)
		}
		return
	}
	var list []struct{ MID string }
	if err := json.Unmarshal([]byte(content), &list); err != nil {
		d.t.Fatalf("at rest: %v in %q", err, content)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.MID)
	}
	equal(d.t, "file at rest", got, want)
}

func equal(t tester, what string, got, want []string) {
	t.Helper()
	if len(got) == len(want) {
		same := true
		for i := range got {
			same = same && got[i] == want[i]
		}
		if same {
			return
		}
	}
	t.Fatalf("%s: got %v, want %v", what, got, want)
}

// drain makes a pass that answers each mid as answer says.
func (d *desk) drain(h queue.Handover) (queue.Drained, error) {
	d.t.Helper()
	held, err := d.Locks().Delivery(context.Background())
	if err != nil {
		d.t.Fatalf("delivery lock: %v", err)
	}
	defer held.Release()
	return d.Drain(context.Background(), held, h)
}
