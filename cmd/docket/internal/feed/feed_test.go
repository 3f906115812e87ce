package feed_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/cmd/docket/internal/feed"
	"github.com/docket-go/docket/cmd/docket/internal/top"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/queue"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A kit is a store with what works on it.
type kit struct {
	t     testing.TB
	store *session.Store
	d     *dispatch.Dispatcher
}

func newKit(t testing.TB) *kit {
	t.Helper()
	store, err := session.OpenStore(t.TempDir(), session.Options{Timeline: timeline.Options{Buffered: true}})
	if err != nil {
		t.Fatal(err)
	}
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{}})
	t.Cleanup(func() { check(t, d.Close()) })
	return &kit{t, store, d}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// feed makes what is hostile visible by a mark.
func (k *kit) feed(o feed.Options) *feed.Feed {
	o.Store, o.Debts = k.store, k.d.Debts
	o.Explain = func(id string, err error) string { return id + ": " + err.Error() }
	o.Line = func(text string) string { return strings.ReplaceAll(text, "\n", ";") }
	o.Lines = func(text string) string { return strings.ReplaceAll(text, "\x1b", "ESC") }
	return feed.New(o)
}

func (k *kit) create(ids ...string) {
	k.t.Helper()
	for _, id := range ids {
		s, err := k.store.Create(k.t.Context(), session.New{ID: id, Title: "title of " + id})
		check(k.t, err)
		check(k.t, s.Release())
	}
}

func (k *kit) with(id string, f func(s *session.Session) error) {
	k.t.Helper()
	s, err := k.store.Open(id)
	check(k.t, err)
	check(k.t, errors.Join(f(s), s.Release()))
}

func (k *kit) declare(id, status, note string) {
	k.t.Helper()
	k.with(id, func(s *session.Session) error {
		_, err := s.Declare(k.t.Context(), session.Declaration{Status: status, Note: note})
		return err
	})
}

func (k *kit) send(id, text string) string {
	k.t.Helper()
	a, err := k.d.SendText(k.t.Context(), id, dispatch.Message{Text: text, NoDrain: true})
	check(k.t, err)
	return a.MID
}

func TestLook(t *testing.T) {
	k := newKit(t)
	k.create("s1")
	f := k.feed(feed.Options{})
	row, there := f.Look(t.Context(), "s1")
	if want := (top.Row{ID: "s1", Title: "title of s1"}); !there || row != want {
		t.Errorf("a new one: got %+v, want %+v", row, want)
	}
	k.declare("s1", session.StatusAsking, "which\nbranch?")
	k.send("s1", "run the tests")
	k.send("s1", "and tell")
	row, _ = f.Look(t.Context(), "s1")
	if row.Word() != "asking" || row.Said != "which;branch?" || row.Owed != 2 || row.Since.IsZero() || row.Last.IsZero() {
		t.Errorf("got %+v", row)
	}
	k.with("s1", func(s *session.Session) error { return s.Archive(t.Context()) })
	if row, _ = f.Look(t.Context(), "s1"); !row.Set || row.Marks != "archived" {
		t.Errorf("archived: got %+v", row)
	}
	if _, there := f.Look(t.Context(), "s2"); there {
		t.Error("there is a session that is not there")
	}
}

// What cannot be read is told, and never read as nothing.
func TestLookAtDamage(t *testing.T) {
	k := newKit(t)
	k.create("record", "queue", "open")
	dir := func(id string) string { return filepath.Join(k.store.Dir(), "sessions", id) }
	k.send("queue", "run the tests")
	check(t, os.WriteFile(filepath.Join(dir("record"), "session.json"), []byte("{"), 0o600))
	check(t, os.WriteFile(filepath.Join(dir("queue"), "pending.json"), []byte("nonsense"), 0o600))
	check(t, os.Chmod(dir("open"), 0o777))
	f := k.feed(feed.Options{})
	for id, uncounted := range map[string]bool{"record": false, "queue": true, "open": true} {
		row, there := f.Look(t.Context(), id)
		if !there || row.Bad == "" || row.Err == nil || row.Uncounted != uncounted || row.Need() != top.Decide {
			t.Errorf("%s: got %+v", id, row)
		}
	}
}

func TestDebts(t *testing.T) {
	k := newKit(t)
	k.create("s1")
	f := k.feed(feed.Options{})
	if d := f.Debts(t.Context(), "s1"); len(d.List) > 0 || d.Bad != "" {
		t.Errorf("got %+v", d)
	}
	mid := k.send("s1", "red \x1b[31m\nand more")
	k.send("s1", strings.Repeat("é", 20_000))
	d := f.Debts(t.Context(), "s1")
	if len(d.List) != 2 || d.List[0].MID != mid || d.List[0].From != "human" || !strings.HasPrefix(d.List[0].Text, "red ESC[31m\nand more") {
		t.Errorf("got %+v", d)
	}
	if text := d.List[1].Text; len(text) > 20_000 || !strings.Contains(text, "bytes more") || strings.ContainsRune(text, '\uFFFD') {
		t.Errorf("a long text: %d bytes that end in %q", len(text), text[len(text)-40:])
	}
	for i := range 600 {
		k.send("s1", fmt.Sprint("number ", i))
	}
	if d = f.Debts(t.Context(), "s1"); len(d.List) != 500 || d.List[0].MID != mid {
		t.Errorf("got %d, want the oldest 500", len(d.List))
	}
	if d = f.Debts(t.Context(), "s2"); d.Bad == "" {
		t.Error("no session, and no word about it")
	}
}

// A seen keeps the rows as a view would.
type seen struct {
	mu      sync.Mutex
	rows    map[string]top.Row
	batches int
	most    int // rows in a batch
	left    int
}

func (s *seen) put(b top.Batch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows == nil {
		s.rows = map[string]top.Row{}
	}
	for _, r := range b.Rows {
		s.rows[r.ID] = r
	}
	for _, id := range b.Gone {
		delete(s.rows, id)
	}
	s.batches++
	s.most, s.left = max(s.most, len(b.Rows)), b.Left
}

func (s *seen) until(t testing.TB, what string, ok func(rows map[string]top.Row) bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(time.Minute); ; {
		s.mu.Lock()
		done, now := ok(s.rows), fmt.Sprintf("%+v", s.rows)
		s.mu.Unlock()
		if done {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it never came to this: %s: %s", what, now)
		}
	}
}

// follow follows until the end of the test.
func follow(t testing.TB, f *feed.Feed, visible ...string) *seen {
	t.Helper()
	s := &seen{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- f.Follow(ctx, func() []string { return visible }, s.put) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// With notification and without, a view hears of all that changes.
func TestFollow(t *testing.T) {
	for name, poll := range map[string]time.Duration{"notified": time.Hour, "polled": -5 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			k := newKit(t)
			k.create("s1", "other")
			s := follow(t, k.feed(feed.Options{Poll: poll, Match: []string{"s*"}}))
			s.until(t, "s1 is there", func(r map[string]top.Row) bool { return r["s1"].ID != "" })
			k.declare("s1", session.StatusAsking, "which?")
			s.until(t, "it asks", func(r map[string]top.Row) bool { return r["s1"].Word() == "asking" && r["s1"].Said == "which?" })
			first := k.send("s1", "one")
			s.until(t, "one is owed", func(r map[string]top.Row) bool { return r["s1"].Owed == 1 })
			k.send("s1", "two")
			s.until(t, "two are owed", func(r map[string]top.Row) bool { return r["s1"].Owed == 2 })
			check(t, k.d.Revoke(t.Context(), "s1", first))
			s.until(t, "one was revoked", func(r map[string]top.Row) bool { return r["s1"].Owed == 1 })
			k.create("s2")
			s.until(t, "s2 has appeared", func(r map[string]top.Row) bool { return r["s2"].ID != "" })
			k.with("s1", func(s *session.Session) error { return s.Archive(t.Context()) })
			s.until(t, "s1 is archived", func(r map[string]top.Row) bool { return r["s1"].Set })
			k.with("s1", func(s *session.Session) error { return s.Close(t.Context()) })
			s.until(t, "s1 is gone", func(r map[string]top.Row) bool { return r["s1"].ID == "" })
			k.create("s1")
			s.until(t, "s1 is there again", func(r map[string]top.Row) bool { return r["s1"].ID != "" && r["s1"].Owed == 0 })
			k.declare("s1", session.StatusParked, "")
			s.until(t, "it is heard of again", func(r map[string]top.Row) bool { return r["s1"].Word() == "parked" })
			// It may be made again before anybody has seen that it was gone. No event of the
			// timeline tells of a revocation: the new directory is watched.
			k.with("s1", func(s *session.Session) error { return s.Close(t.Context()) })
			k.create("s1")
			mid := k.send("s1", "three")
			s.until(t, "three is owed", func(r map[string]top.Row) bool { return r["s1"].Owed == 1 && r["s1"].Word() == "-" })
			check(t, k.d.Revoke(t.Context(), "s1", mid))
			s.until(t, "three was revoked", func(r map[string]top.Row) bool { return r["s1"].Owed == 0 })
			s.until(t, "nothing of other", func(r map[string]top.Row) bool { return r["other"].ID == "" })
		})
	}
}

// The death of who hands a message over changes nothing in the directory, and is noticed
// all the same.
func TestFollowSeesAHandoverDie(t *testing.T) {
	k := newKit(t)
	k.create("s1", "s2")
	mid := k.send("s1", "one")
	k.with("s1", func(s *session.Session) error {
		pass, err := s.Locks().TryDelivery()
		check(t, err)
		defer pass.Release()
		q, err := queue.Open(s.Dir(), queue.Options{Locks: s.Locks()})
		check(t, err)
		defer q.Close()
		held, err := s.Locks().Record(t.Context())
		check(t, err)
		check(t, q.Claim(held, mid))
		check(t, held.Release())
		f := k.feed(feed.Options{Poll: 300 * time.Millisecond}) // all are looked at in more than a minute
		seen := follow(t, f)
		seen.until(t, "it is being handed over", func(r map[string]top.Row) bool {
			return r["s1"].Handing && !r["s1"].Unconfirmed && r["s1"].Need() == top.Work
		})
		if d := f.Debts(t.Context(), "s1"); len(d.List) != 1 || !d.List[0].Handing || d.List[0].Unconfirmed {
			t.Errorf("got %+v, want it being handed over", d)
		}
		k.declare("s2", session.StatusParked, "") // what is known of s1 is looked at before
		seen.until(t, "s2 is parked", func(r map[string]top.Row) bool { return r["s2"].Word() == "parked" })
		check(t, pass.Release())
		seen.until(t, "somebody has to decide", func(r map[string]top.Row) bool { return !r["s1"].Handing && r["s1"].Unconfirmed })
		return nil
	})
}

func TestFollowEmptyStore(t *testing.T) {
	k := newKit(t)
	s := follow(t, k.feed(feed.Options{}))
	s.until(t, "it is known that there is nothing", func(map[string]top.Row) bool { return s.batches > 0 && s.left == 0 })
	k.create("s1")
	s.until(t, "s1 is there", func(r map[string]top.Row) bool { return r["s1"].ID != "" })
}

// Many sessions come in turns of bounded size, those on the terminal in the first one.
func TestFollowMany(t *testing.T) {
	k := newKit(t)
	var ids []string
	for i := range 600 {
		ids = append(ids, fmt.Sprintf("s%03d", i))
	}
	k.create(ids...)
	visible := slices.Clone(ids[400:420])
	var first []string
	s := &seen{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- k.feed(feed.Options{}).Follow(ctx, func() []string { return visible }, func(b top.Batch) {
			if first == nil {
				for _, r := range b.Rows {
					first = append(first, r.ID)
				}
			}
			s.put(b)
		})
	}()
	s.until(t, "all are known", func(r map[string]top.Row) bool { return len(r) == len(ids) && s.left == 0 })
	stop()
	check(t, <-ended)
	if s.most > 256 || len(first) < len(visible) || !slices.Equal(first[:len(visible)], visible) {
		t.Errorf("at most %d at a time, and first %v", s.most, first)
	}
}

func TestFollowRefuses(t *testing.T) {
	k := newKit(t)
	k.create("s1")
	err := k.feed(feed.Options{Match: []string{"["}}).Follow(t.Context(), func() []string { return nil }, func(top.Batch) {})
	if err == nil {
		t.Error("a bad pattern is followed")
	}
}

func TestConverse(t *testing.T) {
	k := newKit(t)
	k.create("s1")
	for i := range 700 {
		k.send("s1", fmt.Sprint("number ", i))
	}
	f := k.feed(feed.Options{})
	ctx, stop := context.WithCancel(t.Context())
	pages := make(chan top.Page)
	ended := make(chan error, 1)
	go func() { ended <- f.Converse(ctx, "s1", func(p top.Page) { pages <- p }) }()
	end := <-pages
	if n := len(end.Events); n != 300 || end.Events[n-1].Text != "number 699" || end.First || !end.Live {
		t.Errorf("got %d events, first %v, live %v", len(end.Events), end.First, end.Live)
	}
	k.declare("s1", session.StatusAsking, "which \x1b?")
	if p := <-pages; len(p.Events) != 1 || p.Events[0].Word != "asking" || p.Events[0].Text != "which ESC?" {
		t.Errorf("got %+v", p)
	}
	stop()
	check(t, <-ended)
	var back []string
	for before, first := end.Events[0].Seq, false; !first; {
		p, err := f.Before(t.Context(), "s1", before)
		check(t, err)
		var texts []string
		for _, e := range p.Events {
			texts = append(texts, e.Text)
		}
		back = append(texts, back...)
		before, first = before-uint64(len(p.Events)), p.First
	}
	if len(back) != 400 || back[0] != "number 0" || back[399] != "number 399" {
		t.Errorf("got %d before, from %q to %q", len(back), back[0], back[len(back)-1])
	}
}

func TestConverseOfNobody(t *testing.T) {
	k := newKit(t)
	if err := k.feed(feed.Options{}).Converse(t.Context(), "s1", func(top.Page) {}); err == nil {
		t.Error("no session, and no error")
	}
}

// A session in which nothing was said has a page all the same.
func TestConverseFromTheStart(t *testing.T) {
	k := newKit(t)
	k.create("s1")
	ctx, stop := context.WithCancel(t.Context())
	pages := make(chan top.Page)
	ended := make(chan error, 1)
	go func() { ended <- k.feed(feed.Options{}).Converse(ctx, "s1", func(p top.Page) { pages <- p }) }()
	if p := <-pages; len(p.Events) > 0 || !p.First {
		t.Errorf("got %+v", p)
	}
	k.send("s1", "hello")
	if p := <-pages; len(p.Events) != 1 || p.Events[0].Text != "hello" || p.Events[0].Who != "human" {
		t.Errorf("got %+v", p)
	}
	stop()
	check(t, <-ended)
}
