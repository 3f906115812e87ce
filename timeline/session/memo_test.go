package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline/session"
)

// countReads makes the store count how often it opens a file.
func countReads(store *session.Store) *atomic.Int64 {
	var reads atomic.Int64
	d := session.RealDisk()
	read := d.Open
	d.Open = func(path string) (*os.File, error) {
		reads.Add(1)
		return read(path)
	}
	store.SetDisk(d)
	return &reads
}

// remembered reads the record until the session has no need to read its file.
func remembered(t *testing.T, s *session.Session, reads *atomic.Int64) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		before := reads.Load()
		record(t, s)
		if reads.Load() == before {
			return
		}
	}
	t.Fatal("the record is read again and again")
}

// overwrite changes a record in place: the file stays the same, as long as it was and,
// as far as a program can say so, as old.
func overwrite(t *testing.T, s *session.Session, old, new string) {
	t.Helper()
	path := filepath.Join(s.Dir(), "session.json")
	info, err := os.Stat(path)
	check(t, err)
	data, err := os.ReadFile(path)
	check(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	check(t, err)
	_, err = f.WriteString(strings.Replace(string(data), old, new, 1))
	check(t, err)
	check(t, f.Close())
	check(t, os.Chtimes(path, info.ModTime(), info.ModTime()))
}

// Whoever changes a record, and however fast, is noticed at once.
func TestRecordIsNeverOld(t *testing.T) {
	store := newStore(t)
	reads := countReads(store)
	s, err := store.Create(ctx, session.New{ID: "s1", Title: "title 0"})
	s = released(t, s, err)
	other := open(t, store, "s1")
	last := "title 0"
	for i, change := range []struct {
		how string
		do  func(title string)
	}{
		{"in place, in the tick in which it was made", func(title string) { overwrite(t, s, last, title) }},
		{"in place once more", func(title string) { overwrite(t, s, last, title) }},
		{"by another handle", func(title string) {
			check(t, other.Update(ctx, func(r *session.Record) error { r.Title = title; return nil }))
		}},
		{"in place, when it was remembered", func(title string) { remembered(t, s, reads); overwrite(t, s, last, title) }},
		{"by another handle, when it was remembered", func(title string) {
			remembered(t, s, reads)
			check(t, other.Update(ctx, func(r *session.Record) error { r.Title = title; return nil }))
		}},
		{"by this one, when it was remembered", func(title string) {
			remembered(t, s, reads)
			check(t, s.Update(ctx, func(r *session.Record) error { r.Title = title; return nil }))
		}},
	} {
		title := "title " + string(rune('1'+i))
		change.do(title)
		if got := record(t, s).Title; got != title {
			t.Errorf("%s: got %q, want %q", change.how, got, title)
		}
		last = title
	}
	remembered(t, s, reads)
	overwrite(t, s, "{", " ")
	if r, err := s.Record(); err == nil {
		t.Errorf("damaged: got %v, want an error", r)
	}
	overwrite(t, s, " ", "{")
	remembered(t, s, reads)
	check(t, s.Close(ctx))
	if r, err := s.Record(); err == nil {
		t.Errorf("closed: got %v, want an error", r)
	}
}

// What a caller does with a record does not change the next one.
func TestRecordIsTheCallersOwn(t *testing.T) {
	store := newStore(t)
	reads := countReads(store)
	s, err := store.Create(ctx, session.New{ID: "s1", Adapter: "file", Settings: map[string]string{"path": "here"}})
	s = released(t, s, err)
	remembered(t, s, reads)
	record(t, s).Settings["path"] = "there"
	if got := record(t, s).Settings["path"]; got != "here" {
		t.Errorf("got %q, want %q", got, "here")
	}
}

// BenchmarkRecord reads a record that nobody changes, and one that is always new.
func BenchmarkRecord(b *testing.B) {
	for _, remembered := range []bool{true, false} {
		name := "read"
		if remembered {
			name = "remembered"
		}
		b.Run(name, func(b *testing.B) {
			store := newStore(b)
			if !remembered {
				d := session.RealDisk()
				store.SetDisk(session.Disk{Open: d.Open, Create: d.Create, Names: d.Names, Mkdir: d.Mkdir, Write: d.Write,
					Sync: d.Sync, SyncDir: d.SyncDir, Rename: d.Rename, Remove: d.Remove, RemoveAll: d.RemoveAll})
			}
			s := create(b, store, "s1")
			b.ReportAllocs()
			for b.Loop() {
				record(b, s)
			}
		})
	}
}
