package session_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

func TestDeclareMoves(t *testing.T) {
	for _, tt := range []struct {
		name     string
		declared []session.Declaration
		moved    []bool
	}{
		{"the first of a new session", []session.Declaration{active}, []bool{true}},
		{"the same again", []session.Declaration{active, active, merge, merge}, []bool{true, false, true, false}},
		{"only the note", []session.Declaration{{Status: "parked"}, {Status: "parked", Note: "n"}, {Status: "parked"}}, []bool{true, true, true}},
		{"only the proposal", []session.Declaration{{Status: "awaiting", Proposal: "merge"}, nothing}, []bool{true, true}},
		{"there and back", []session.Declaration{active, asking, active}, []bool{true, true, true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := create(t, newStore(t), "s")
			var want []session.Declaration
			for i, d := range tt.declared {
				answer := declare(t, s, d)
				if answer.Moved != tt.moved[i] || answer.Status != d.Status || answer.Proposal != d.Proposal || answer.Note != d.Note {
					t.Errorf("declaration %d: got %+v, want moved %v", i, answer, tt.moved[i])
				}
				if answer.Next.IsZero() == answer.Moved {
					t.Errorf("declaration %d: got cursor %q, moved %v", i, answer.Next, answer.Moved)
				}
				if tt.moved[i] {
					want = append(want, d)
				}
				if got := record(t, s).Authored(); got != d {
					t.Errorf("declaration %d: got record %+v, want %+v", i, got, d)
				}
			}
			if got := declarations(t, s); words(got) != words(want) {
				t.Errorf("got events %s, want %s", words(got), words(want))
			}
		})
	}
}

func TestUnmovedDeclarationWritesNothing(t *testing.T) {
	s := create(t, newStore(t), "s")
	declare(t, s, asking)
	before := files(t, s.Dir())
	declare(t, s, asking)
	check(t, s.Heal(ctx, release(t, s)))
	if after := files(t, s.Dir()); after != before {
		t.Errorf("got files\n%s\nwant\n%s", after, before)
	}
}

// release returns the held record lock, which is given back at the end of the test.
func release(t *testing.T, s *session.Session) *lock.Record {
	t.Helper()
	h := held(t, s)
	t.Cleanup(func() { check(t, h.Release()) })
	return h
}

// files says what is in a directory, and which change each file is at.
func files(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	check(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		check(t, err)
		info, err := e.Info()
		check(t, err)
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			check(t, err)
			b.WriteString(path + " " + info.ModTime().String() + " " + string(data) + "\n")
		}
		return nil
	}))
	return b.String()
}

func TestDeclareRefuses(t *testing.T) {
	store := newStore(t)
	s := create(t, store, "s")
	declare(t, s, active)
	before := files(t, s.Dir())
	for name, tt := range map[string]struct {
		d    session.Declaration
		want error
	}{
		"no status":           {session.Declaration{}, session.ErrDeclaration},
		"upper case":          {session.Declaration{Status: "Active"}, session.ErrDeclaration},
		"two words":           {session.Declaration{Status: "in review"}, session.ErrDeclaration},
		"a line break":        {session.Declaration{Status: "idle\n"}, session.ErrDeclaration},
		"too long":            {session.Declaration{Status: strings.Repeat("a", 65)}, session.ErrDeclaration},
		"a stray proposal":    {session.Declaration{Status: "active", Proposal: "merge"}, session.ErrDeclaration},
		"a bad proposal":      {session.Declaration{Status: "awaiting", Proposal: "Merge!"}, session.ErrDeclaration},
		"NUL in the note":     {session.Declaration{Status: "idle", Note: "a\x00b"}, timeline.ErrText},
		"a note not in UTF-8": {session.Declaration{Status: "idle", Note: "a\xff"}, timeline.ErrText},
		"a large note":        {session.Declaration{Status: "idle", Note: strings.Repeat("x", timeline.DefaultMaxTextBytes+1)}, timeline.ErrTooLarge},
		"a note of controls":  {session.Declaration{Status: "idle", Note: strings.Repeat("\x01", timeline.DefaultMaxTextBytes)}, session.ErrTooLarge},
	} {
		_, err := s.Declare(ctx, tt.d)
		if err == nil {
			t.Errorf("%s: got no error, want %v", name, tt.want)
		}
		wantError(t, err, tt.want)
		wantError(t, s.BeginLaunch(ctx, tt.d), tt.want)
	}
	if after := files(t, s.Dir()); after != before {
		t.Errorf("got files\n%s\nwant\n%s", after, before)
	}
	large := session.Declaration{Status: "idle", Note: strings.Repeat("x", timeline.DefaultMaxTextBytes)}
	declare(t, s, large) // the largest that is allowed
	check(t, s.BeginLaunch(ctx, large))
	if got := record(t, s).Authored(); got != large {
		t.Errorf("got a note of %d bytes, want %d", len(got.Note), len(large.Note))
	}
}

// A retired session is closed on one axis alone.
func TestRetired(t *testing.T) {
	s := create(t, newStore(t), "s")
	declare(t, s, active)
	check(t, s.Retire(ctx))
	_, err := s.Declare(ctx, asking)
	wantError(t, err, session.ErrRetired)
	_, err = s.Declare(ctx, active) // not even the same again
	wantError(t, err, session.ErrRetired)
	wantError(t, s.BeginLaunch(ctx, active), session.ErrRetired)
	_, err = s.Timeline().Append(ctx, timeline.Sent{MID: "m", Text: "still there?"})
	check(t, err)
	check(t, s.Update(ctx, func(r *session.Record) error { r.Title = "t"; return nil }))
	check(t, s.Archive(ctx))
	if r := record(t, s); !r.Retired || !r.Archived || r.Title != "t" || r.Authored() != active {
		t.Errorf("got %+v", r)
	}
	if got := words(declarations(t, s)); got != "active//" {
		t.Errorf("got events %s", got)
	}
}

// Archive is a mark; it takes nothing away.
func TestArchive(t *testing.T) {
	s := create(t, newStore(t), "s")
	declare(t, s, asking)
	check(t, s.Archive(ctx))
	before := files(t, s.Dir())
	check(t, s.Archive(ctx))
	if after := files(t, s.Dir()); after != before {
		t.Errorf("got files\n%s\nwant\n%s", after, before)
	}
	if !declare(t, s, active).Moved || !record(t, s).Archived {
		t.Error("want an archived session to declare and to stay archived")
	}
	if got, want := words(declarations(t, s)), words([]session.Declaration{asking, active}); got != want {
		t.Errorf("got events %s, want %s", got, want)
	}
}

// What another handle or program declared is what a declaration is compared with.
func TestDeclareThroughTwoHandles(t *testing.T) {
	store := newStore(t)
	a, b := create(t, store, "s"), open(t, store, "s")
	for i, tt := range []struct {
		s     *session.Session
		d     session.Declaration
		moved bool
	}{{a, active, true}, {b, active, false}, {b, merge, true}, {a, merge, false}, {a, active, true}} {
		if got := declare(t, tt.s, tt.d).Moved; got != tt.moved {
			t.Errorf("declaration %d: got moved %v", i, got)
		}
	}
}

// The cases in which the record shows a declaration that the log may lack.
func TestHeal(t *testing.T) {
	const made = "2026-07-16T00:00:05.000Z"
	for _, tt := range []struct {
		name   string
		record string // what replaces the value of "declared", after active and asking are in the log
		status string
		sent   bool // a message took the place meanwhile
		clean  bool // the lock says that no change was interrupted
		want   string
	}{
		{"the event is missing", `{"seq":2,"ts":"` + made + `"}`, "parked", false, true, "active asking parked"},
		{"the log lost events before it too", `{"seq":7,"ts":"` + made + `"}`, "parked", false, true, "active asking parked"},
		{"a message has its place", `{"seq":2,"ts":"` + made + `"}`, "parked", true, false, "active asking parked"},
		{"its event is there at another place", `{"seq":7,"ts":"` + made + `"}`, "asking", false, true, "active asking"},
		{"nothing is missing", `{"seq":1,"ts":"` + made + `"}`, "asking", false, false, "active asking"},
		{"another program has declared", ``, "parked", false, false, "active asking"}, // it writes its own event
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := create(t, newStore(t), "s")
			declare(t, s, active)
			declare(t, s, session.Declaration{Status: "asking"})
			lock := held(t, s)
			check(t, lock.Begin())
			rewrite(t, s, tt.status, tt.record)
			if tt.sent {
				_, err := s.Timeline().Write(lock, timeline.Sent{MID: "m", Text: "hello"})
				check(t, err)
			}
			if tt.clean {
				check(t, lock.Recovered())
				check(t, lock.Done())
			}
			check(t, lock.Release())
			for range 2 {
				lock := held(t, s)
				check(t, s.Heal(ctx, lock))
				check(t, lock.Release())
			}
			check(t, s.Archive(ctx)) // heals nothing more
			if got := statuses(t, s); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if last, _, err := s.Timeline().LastStatus(ctx); err != nil || last.Status == "parked" && last.Time.Format(time.RFC3339) != "2026-07-16T00:00:05Z" {
				t.Errorf("got %+v, %v, want the time of the declaration", last, err)
			}
			if e, _, err := s.Timeline().LastStatus(ctx); err != nil || tt.record != "" && placed(t, s) != int(e.Seq) {
				t.Errorf("got the event at %d in the record, want %d, where it is (%v)", placed(t, s), e.Seq, err)
			}
			declare(t, s, active)
			if got := statuses(t, s); got != tt.want+" active" {
				t.Errorf("got %q, want %q", got, tt.want+" active")
			}
		})
	}
}

// rewrite does to the record what a process did that died before its event was in
// the log.
func rewrite(t *testing.T, s *session.Session, status, declared string) {
	t.Helper()
	path := filepath.Join(s.Dir(), "session.json")
	data, err := os.ReadFile(path)
	check(t, err)
	data = bytes.Replace(data, []byte(`"status": "asking"`), []byte(`"status": "`+status+`"`), 1)
	at := bytes.Index(data, []byte(`,`+"\n"+`  "declared"`))
	data = data[:at]
	if declared != "" {
		data = append(data, `, "declared": `+declared...)
	}
	check(t, os.WriteFile(path, append(data, '}'), 0o600))
}

// placed returns where the record says that its event is.
func placed(t *testing.T, s *session.Session) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.Dir(), "session.json"))
	check(t, err)
	var r struct{ Declared struct{ Seq int } }
	check(t, json.Unmarshal(data, &r))
	return r.Declared.Seq
}

func statuses(t *testing.T, s *session.Session) string {
	t.Helper()
	var all []string
	for _, d := range declarations(t, s) {
		all = append(all, d.Status)
	}
	return strings.Join(all, " ")
}

func TestHealNeedsTheLock(t *testing.T) {
	store := newStore(t)
	s, other := create(t, store, "s"), create(t, store, "other")
	wantError(t, s.Heal(ctx, nil), lock.ErrNotHeld)
	wantError(t, s.Heal(ctx, release(t, other)), lock.ErrNotHeld)
}

// A change that cannot be written is refused, and the next one works.
func TestRecordThatCannotBeReplaced(t *testing.T) {
	s := create(t, newStore(t), "s")
	declare(t, s, active)
	staged := filepath.Join(s.Dir(), "session.json.new")
	restore := step.Hook(func(name string) {
		if name == "session: new session.json written" {
			os.Remove(staged) // so that the rename fails
		}
	})
	if _, err := s.Declare(ctx, merge); err == nil || strings.Contains(err.Error(), "remove") {
		t.Errorf("got %v from Declare, want that the renaming failed", err)
	}
	if err := s.Archive(ctx); err == nil || strings.Contains(err.Error(), "remove") {
		t.Errorf("got %v from Archive, want that the renaming failed", err)
	}
	if r := record(t, s); r.Authored() != active || r.Archived || statuses(t, s) != "active" {
		t.Errorf("got %+v, events %s", r, statuses(t, s))
	}
	restore()
	check(t, os.WriteFile(staged, []byte("left by a process that died"), 0o400))
	if !declare(t, s, merge).Moved || statuses(t, s) != "active awaiting" {
		t.Errorf("got events %s", statuses(t, s))
	}
}

// A directory that stands where the new record is to be written is moved aside, with
// what is in it.
func TestObstacleToTheRecord(t *testing.T) {
	s := create(t, newStore(t), "s")
	staged := filepath.Join(s.Dir(), "session.json.new")
	check(t, os.MkdirAll(filepath.Join(staged, "x"), 0o700))
	declare(t, s, active)
	aside, err := filepath.Glob(staged + "~*/x")
	if err != nil || len(aside) != 1 || statuses(t, s) != "active" {
		t.Errorf("got aside %v, %v, events %s", aside, err, statuses(t, s))
	}
	if _, err := os.Lstat(staged); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want the name free", err)
	}
}

// A damaged line counts as missing, and stops nobody from declaring.
func TestDeclareOverDamage(t *testing.T) {
	for name, messages := range map[string]int{"in the newest segment": 0, "in an older one": 100} {
		t.Run(name, func(t *testing.T) {
			store, err := session.OpenStore(t.TempDir(), session.Options{Timeline: timeline.Options{SegmentBytes: 4096}})
			check(t, err)
			s := create(t, store, "s")
			declare(t, s, active)
			declare(t, s, merge)
			for range messages {
				_, err := s.Timeline().Append(ctx, timeline.Sent{MID: "m", Text: strings.Repeat("x", 100), NoDebt: true})
				check(t, err)
			}
			first := filepath.Join(s.Dir(), "timeline", "000000000001.ndjson")
			data, err := os.ReadFile(first)
			check(t, err)
			at := bytes.LastIndex(data, []byte(`"awaiting"`))
			copy(data[at:], "\x00\x00\x00")
			check(t, os.WriteFile(first, data, 0o600))
			lock := held(t, s)
			check(t, lock.Begin()) // interrupted, so that record and log are compared
			check(t, lock.Release())
			if declare(t, open(t, store, "s"), merge).Moved {
				t.Error("got moved, want it to be what the record says")
			}
			last, _, err := s.Timeline().LastStatus(ctx)
			if err != nil || last.Status != merge.Status {
				t.Errorf("got last event %+v, %v, want the damaged one again", last, err)
			}
		})
	}
}
