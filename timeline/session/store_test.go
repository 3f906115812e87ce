package session_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

func TestDefaultDir(t *testing.T) {
	home, err := os.UserHomeDir()
	check(t, err)
	wd, err := os.Getwd()
	check(t, err)
	abs := t.TempDir()
	for _, tt := range []struct{ docket, state, want string }{
		{"", "", filepath.Join(home, ".local", "state", "docket")},
		{"", abs, filepath.Join(abs, "docket")},
		{"", "relative", filepath.Join(home, ".local", "state", "docket")}, // as its specification asks
		{abs, "elsewhere", abs},
		{"relative", abs, filepath.Join(wd, "relative")},
	} {
		t.Setenv("DOCKET_HOME", tt.docket)
		t.Setenv("XDG_STATE_HOME", tt.state)
		if got, err := session.DefaultDir(); err != nil || got != tt.want {
			t.Errorf("DOCKET_HOME=%q XDG_STATE_HOME=%q: got %q, %v, want %q", tt.docket, tt.state, got, err, tt.want)
		}
	}
}

func TestOpenStoreMakesNothing(t *testing.T) {
	store := newStore(t)
	_, err := store.Open("s")
	wantError(t, err, session.ErrNotFound)
	for id, err := range store.IDs(ctx) {
		t.Errorf("got %q, %v from a store that is not there", id, err)
	}
	if _, ok, err := store.Closed("s"); ok || err != nil {
		t.Errorf("got closed %v, %v", ok, err)
	}
	if _, err := os.Stat(store.Dir()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no store", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	check(t, os.WriteFile(file, nil, 0o600))
	if _, err := session.OpenStore(file, session.Options{}); err == nil {
		t.Error("got a store in a plain file")
	}
}

func TestCreate(t *testing.T) {
	now := time.Date(2026, 7, 16, 1, 2, 3, 4_999_999, time.FixedZone("", 3600))
	store, err := session.OpenStore(t.TempDir()+"/deep/er", session.Options{Now: func() time.Time { return now }})
	check(t, err)
	s, err := store.Create(ctx, session.New{ID: "w-1", Title: "T <1>", Parent: "lead", Adapter: "exec", Settings: map[string]string{"cmd": "cat"}})
	released(t, s, err)
	r := record(t, s)
	if r.ID != "w-1" || r.Title != "T <1>" || r.Parent != "lead" || r.Adapter != "exec" || r.Settings["cmd"] != "cat" ||
		!r.CreatedAt.Equal(now.Truncate(time.Millisecond)) || r.Authored() != (session.Declaration{}) || r.Archived || r.Retired || r.Launching {
		t.Errorf("got %+v", r)
	}
	stored, err := os.ReadFile(filepath.Join(s.Dir(), "session.json"))
	check(t, err)
	want := `{
  "session_id": "w-1",
  "title": "T <1>",
  "name": "",
  "parent": "lead",
  "status": null,
  "proposal": "",
  "note": "",
  "createdAt": 1784160123004,
  "harness": "exec",
  "harness_settings": {
    "cmd": "cat"
  }
}
`
	if string(stored) != want {
		t.Errorf("got\n%s\nwant\n%s", stored, want)
	}
	if got := declarations(t, s); len(got) != 0 {
		t.Errorf("got events %v, want none", got)
	}
	lock := held(t, s)
	defer lock.Release()
	if lock.Interrupted() {
		t.Error("got an interrupted lock, want that of a new session to be clean")
	}
}

func TestStoreIsTheUsersAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes do not say here who may read")
	}
	store := newStore(t)
	s := create(t, store, "s")
	declare(t, s, active)
	check(t, create(t, store, "gone").Close(ctx))
	err := filepath.WalkDir(store.Dir(), func(path string, e fs.DirEntry, err error) error {
		check(t, err)
		info, err := e.Info()
		check(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: got mode %v, want nothing for others", path, info.Mode())
		}
		return nil
	})
	check(t, err)
}

func TestCreateRefuses(t *testing.T) {
	store := newStore(t)
	s := create(t, store, "s")
	declare(t, s, active)
	_, err := store.Create(ctx, session.New{ID: "s", Title: "another"})
	wantError(t, err, session.ErrExists)
	if r := record(t, s); r.Title != "" || r.Status != "active" {
		t.Errorf("got %+v, want the first session", r)
	}
	for name, n := range map[string]session.New{
		"bad parent":   {ID: "n", Parent: "../x"},
		"NUL in title": {ID: "n", Title: "a\x00"},
		"bad UTF-8":    {ID: "n", Settings: map[string]string{"k": "\xff"}},
	} {
		if _, err := store.Create(ctx, n); !errors.Is(err, session.ErrField) {
			t.Errorf("%s: got %v, want ErrField", name, err)
		}
	}
	_, err = store.Create(ctx, session.New{ID: "n", Title: string(largeText())})
	wantError(t, err, session.ErrTooLarge)
	check(t, os.Mkdir(filepath.Join(store.Dir(), "sessions", "empty"), 0o700))
	_, err = store.Create(ctx, session.New{ID: "empty"}) // somebody else's; not to be taken over
	wantError(t, err, session.ErrExists)
	if got := ids(t, store); !slices.Equal(got, []string{"empty", "s"}) {
		t.Errorf("got %q", got)
	}
	staged(t, store, 0)
}

func largeText() []byte {
	b := make([]byte, session.MaxRecordBytes)
	for i := range b {
		b[i] = 'x'
	}
	return b
}

func ids(t *testing.T, store *session.Store) []string {
	t.Helper()
	var all []string
	for id, err := range store.IDs(ctx) {
		check(t, err)
		all = append(all, id)
	}
	slices.Sort(all)
	return all
}

// staged checks how much lies aside in the store.
func staged(t *testing.T, store *session.Store, want int) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(store.Dir(), "sessions", ".staging"))
	check(t, err)
	left := slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == "record.lock" })
	if len(left) != want {
		t.Errorf("got %v left aside, want %d", left, want)
	}
}

func TestOneOfManyCreates(t *testing.T) {
	store := newStore(t)
	var wg sync.WaitGroup
	made := make(chan *session.Session, 16)
	for range cap(made) {
		wg.Go(func() {
			s, err := store.Create(ctx, session.New{ID: "s"})
			switch {
			case err == nil:
				made <- s
			case !errors.Is(err, session.ErrExists):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(made)
	if len(made) != 1 {
		t.Errorf("got %d sessions made, want 1", len(made))
	}
	for s := range made {
		check(t, s.Release())
	}
	staged(t, store, 0)
}

func TestOpenRefusesUnsafeDirectories(t *testing.T) {
	store := newStore(t)
	s := create(t, store, "s")
	sessions := filepath.Join(store.Dir(), "sessions")
	check(t, os.Symlink(s.Dir(), filepath.Join(sessions, "link")))
	check(t, os.WriteFile(filepath.Join(sessions, "file"), nil, 0o600))
	for _, id := range []string{"link", "file"} {
		_, err := store.Open(id)
		var unsafe *session.UnsafeError
		if !errors.As(err, &unsafe) || !errors.Is(err, session.ErrUnsafe) || unsafe.Session != id {
			t.Errorf("%s: got %v, want an UnsafeError", id, err)
		}
	}
	if got := ids(t, store); !slices.Equal(got, []string{"s"}) {
		t.Errorf("got %q, want only directories", got)
	}
	if runtime.GOOS == "windows" {
		return
	}
	check(t, os.Chmod(s.Dir(), 0o770))
	open(t, store, "s") // shared with a group on purpose
	check(t, os.Chmod(s.Dir(), 0o702))
	_, err := store.Open("s")
	wantError(t, err, session.ErrUnsafe)
}

func TestOpenRefusesForeignDirectories(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() != 0 {
		t.Skip("only the superuser can give a directory away")
	}
	store := newStore(t)
	s := create(t, store, "s")
	check(t, os.Chown(s.Dir(), 12345, 12345))
	_, err := store.Open("s")
	wantError(t, err, session.ErrUnsafe)
}

func TestIDs(t *testing.T) {
	store := newStore(t)
	sessions := filepath.Join(store.Dir(), "sessions")
	check(t, os.MkdirAll(sessions, 0o700))
	var want []string
	for i := range 1100 { // more than one batch
		id := fmt.Sprintf("s%d", i)
		check(t, os.Mkdir(filepath.Join(sessions, id), 0o700))
		want = append(want, id)
	}
	for _, other := range []string{".hidden", "-x", "a b", "ü"} {
		check(t, os.Mkdir(filepath.Join(sessions, other), 0o700))
	}
	slices.Sort(want)
	if got := ids(t, store); !slices.Equal(got, want) {
		t.Errorf("got %d ids, want %d", len(got), len(want))
	}
	for range store.IDs(ctx) {
		break // an iteration that is left holds nothing
	}
}

func TestUpdate(t *testing.T) {
	store := newStore(t)
	s := create(t, store, "s")
	declare(t, s, asking)
	check(t, s.Update(ctx, func(r *session.Record) error {
		r.Title, r.Parent, r.Adapter, r.Settings = "t", "lead", "exec", map[string]string{"cmd": "cat"}
		return nil
	}))
	check(t, s.Update(ctx, func(r *session.Record) error { r.Settings["timeout"] = "1s"; return nil }))
	r := record(t, s)
	if r.Title != "t" || r.Parent != "lead" || r.Adapter != "exec" || len(r.Settings) != 2 || r.Authored() != asking {
		t.Errorf("got %+v", r)
	}
	stop := errors.New("stop")
	for name, tt := range map[string]struct {
		f    func(r *session.Record) error
		want error
	}{
		"an error":    {func(r *session.Record) error { r.Title = "x"; return stop }, stop},
		"the status":  {func(r *session.Record) error { r.Status = "idle"; return nil }, session.ErrField},
		"the id":      {func(r *session.Record) error { r.ID = "other"; return nil }, session.ErrField},
		"the archive": {func(r *session.Record) error { r.Archived = true; return nil }, session.ErrField},
		"the parent":  {func(r *session.Record) error { r.Parent = ".."; return nil }, session.ErrField},
	} {
		if err := s.Update(ctx, tt.f); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
	if got := record(t, s); got.Title != "t" || got.ID != "s" || got.Authored() != asking {
		t.Errorf("got %+v, want it unchanged", got)
	}
	if got := words(declarations(t, s)); got != words([]session.Declaration{asking}) {
		t.Errorf("got events %s", got)
	}
}

func TestBuffered(t *testing.T) {
	store, err := session.OpenStore(t.TempDir(), session.Options{Timeline: timeline.Options{Buffered: true}})
	check(t, err)
	s := create(t, store, "s")
	declare(t, s, active)
	if got := words(declarations(t, open(t, store, "s"))); got != "active//" {
		t.Errorf("got %s", got)
	}
	check(t, s.Close(ctx))
}
