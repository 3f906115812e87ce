package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/dispatch/doctor"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/session"
)

func TestNothingIsWrong(t *testing.T) {
	w := newWorld(t, "s1", "s2")
	w.send("s1")
	all := w.examine(func(o *doctor.Options) { o.Version, o.Own = "v1", "s1" })
	if got := all.problems(); len(got) != 0 {
		t.Errorf("got %q, want no problem", got)
	}
	for check, part := range map[string]string{
		"version": "docket v1, " + runtime.Version(), "store": w.dir, "write": "can be written", "locks": "exclude",
		"sync": "stable storage", "sessions": "2 sessions", "owed": "nothing", "session": "DOCKET_SESSION names it",
	} {
		if check == "sync" && len(all.of(check)) == 1 {
			continue // fast or slow
		}
		all.wants(t, check, doctor.OK, part)
	}
}

// A store that does not exist is a note, and is not made.
func TestNoStore(t *testing.T) {
	w := newWorld(t)
	all := w.examine()
	all.wants(t, "store", doctor.Note, w.dir, "docket new")
	if got := all.problems(); len(got) != 0 {
		t.Errorf("got %q, want no problem", got)
	}
	if _, err := os.Lstat(w.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want no store made", err)
	}
}

func TestWhatOthersMayUse(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such permissions")
	}
	w := newWorld(t, "s1")
	for _, tt := range []struct {
		path  string
		mode  fs.FileMode
		level doctor.Level
		parts []string
	}{
		{w.dir, 0o750, doctor.Note, []string{"0750", "its group", "chmod 700 " + w.dir}},
		{w.dir, 0o500, doctor.Problem, []string{"0500", "cannot use all", "chmod 700 " + w.dir}},
		{w.dir + "/sessions", 0o755, doctor.Note, []string{"mode 0755", "yours alone", "chmod 700 " + w.dir + "/sessions"}},
		{w.file("s1", "session.json"), 0o644, doctor.Note, []string{"session.json", "chmod -R go= " + w.dir}},
		{w.dir, 0o755, doctor.Problem, []string{"0755", "every user", "chmod 700 " + w.dir}},
	} {
		info, err := os.Stat(tt.path)
		must(t, err)
		must(t, os.Chmod(tt.path, tt.mode))
		w.examine().wants(t, "permissions", tt.level, tt.parts...)
		must(t, os.Chmod(tt.path, info.Mode()))
	}
	// What would be a note is a problem where others can get at it.
	must(t, errors.Join(os.Chmod(w.dir, 0o755), os.Chmod(w.dir+"/sessions", 0o755), os.Chmod(w.file("s1", "session.json"), 0o644)))
	all := w.examine()
	all.wants(t, "permissions", doctor.Problem, "chmod -R go=")
	all.wants(t, "permissions", doctor.Problem, "yours alone", "chmod 700 "+w.dir+"/sessions")
	must(t, os.Chmod(w.file("s1", ""), 0o777))
	w.examine().wants(t, "unsafe", doctor.Problem, " s1: ", "everyone may write")
}

func TestWhatCannotBeRead(t *testing.T) {
	w := newWorld(t, "queue", "record", "later", "fine")
	w.send("later")
	w.spoil("later", "session.json")
	w.spoil("queue", "pending.json")
	w.spoil("record", "session.json")
	all := w.examine()
	all.wants(t, "queue", doctor.Problem, " queue: ", "docket repair queue")
	all.wants(t, "record", doctor.Problem, " record: ", "docket verify record")
	all.wants(t, "owed", doctor.Note, " later: ", "its record cannot be read", "docket verify later")
	for _, f := range all {
		if corrupt := f.Check == "queue" || f.Check == "record"; f.Corrupt != corrupt {
			t.Errorf("got %+v, want it corrupt: %v", f, corrupt)
		}
	}
}

// What cannot be seen is not said to be well.
func TestWhatIsNotKnown(t *testing.T) {
	w := newWorld(t, "later", "queue")
	w.spoil("queue", "pending.json")
	all := w.examine()
	all.wants(t, "owed", doctor.Note, "not known: what is owed to 1 session cannot be read")
	w.send("later")
	w.examine().wants(t, "owed", doctor.Note, "1 message to 1 session, as far as is known: what is owed to 1 session")
	must(t, errors.Join(os.Rename(w.dir+"/sessions", w.dir+"/elsewhere"), os.WriteFile(w.dir+"/sessions", nil, 0o600)))
	all = w.examine()
	all.wants(t, "sessions", doctor.Problem, "they cannot be listed")
	all.wants(t, "owed", doctor.Note, "not known: the sessions cannot be listed")
	for _, check := range []string{"owed", "notification"} {
		for _, line := range all.of(check) {
			if strings.HasPrefix(line, string(doctor.OK)) {
				t.Errorf("got %q of sessions that cannot be listed", line)
			}
		}
	}
}

func TestWhatIsSomebodyElses(t *testing.T) {
	w := newWorld(t, "s1")
	if runtime.GOOS == "windows" || os.Chown(w.dir, 65534, -1) != nil {
		t.Skip("nothing can be given to somebody else here")
	}
	all := w.examine()
	all.wants(t, "owner", doctor.Problem, "work as that user")
	all.wants(t, "permissions", doctor.Note, "nobody but its owner")
}

func TestAdapterThatIsNotThere(t *testing.T) {
	w := newWorld(t, "s1")
	w.create(session.New{ID: "s2", Adapter: "gone"})
	w.examine().wants(t, "adapter", doctor.Problem, " s2: ", `"gone"`, "docket set s2 --adapter NAME", "docket adapters")
}

func TestDebts(t *testing.T) {
	w := newWorld(t, "busy", "later")
	w.create(session.New{ID: "later-none"})
	w.send("busy")
	w.now = w.now.Add(5 * time.Minute)
	w.send("later")
	w.send("later-none")
	all := w.examine()
	all.wants(t, "owed", doctor.OK, "3 messages to 3 sessions")
	all.wants(t, "owed", doctor.Note, " busy: ", "owed for 5m", "1 attempt", "busy", "docket drain busy")
	all.wants(t, "owed", doctor.Note, " later: ", "nobody has tried", "docket drain later")
	all.wants(t, "owed", doctor.Note, " later-none: ", "no adapter", "docket pending later-none")
	w.now = w.now.Add(time.Hour)
	all = w.examine()
	all.wants(t, "owed", doctor.Problem, " busy: ", "owed for 1h05m", "docket drain busy, or docket set busy --set ")
	all.wants(t, "owed", doctor.Note, " later-none: ", "no adapter") // that is how it is meant
}

func TestUnconfirmed(t *testing.T) {
	w := newWorld(t, "vague")
	w.create(session.New{ID: "vague-again", Adapter: "agent", Settings: map[string]string{"unconfirmed": "redeliver"}})
	mid, again := w.send("vague"), w.send("vague-again")
	w.now = w.now.Add(3 * time.Minute)
	all := w.examine()
	all.wants(t, "unconfirmed", doctor.Problem, " vague: ", "for 3m", "the line went dead",
		"docket confirm vague "+mid+", or docket confirm vague "+mid+" --absent")
	all.wants(t, "unconfirmed", doctor.Note, " vague-again: ", "handed over again", "docket drain vague-again")
	if i := slices.IndexFunc(all, func(f doctor.Finding) bool { return f.MID == again }); i < 0 {
		t.Error("got no finding with the mid of the second message")
	}
	// While a pass is at work there is nothing to decide.
	locks, err := lock.Open(w.file("vague", ""), lock.Options{})
	must(t, err)
	pass, err := locks.TryDelivery()
	must(t, err)
	all = w.examine()
	must(t, errors.Join(pass.Release(), locks.Close()))
	all.wants(t, "owed", doctor.OK, "1 message being handed over now")
	if got := all.problems(); len(got) != 0 {
		t.Errorf("got %q, want no problem", got)
	}
}

func TestInterruptedChange(t *testing.T) {
	w := newWorld(t, "s1", "s2")
	locks, err := lock.Open(w.file("s1", ""), lock.Options{})
	must(t, err)
	held, err := locks.Record(t.Context())
	must(t, err)
	must(t, errors.Join(held.Begin(), held.Release(), locks.Close()))
	all := w.examine()
	all.wants(t, "interrupted", doctor.Note, "1 session:", "docket drain s1")
	if got := all.of("lock"); len(got) != 0 {
		t.Errorf("got %q, want no lock that is held", got)
	}
}

func TestLockThatIsHeld(t *testing.T) {
	w := newWorld(t, "s1", "s2")
	for _, begun := range []bool{true, false} {
		locks, err := lock.Open(w.file("s1", ""), lock.Options{})
		must(t, err)
		held, err := locks.Record(t.Context())
		must(t, err)
		if begun {
			must(t, held.Begin())
		}
		all := w.examine()
		if begun {
			must(t, held.Done())
		}
		must(t, errors.Join(held.Release(), locks.Close()))
		if !begun && runtime.GOOS != "linux" {
			continue // nothing says so
		}
		all.wants(t, "lock", doctor.Problem, " s1: ", "more than 1ms")
		if runtime.GOOS == "linux" {
			all.wants(t, "lock", doctor.Problem, fmt.Sprintf("by process %d", os.Getpid()), fmt.Sprintf("ps -p %d", os.Getpid()))
		}
	}
	if got := w.examine().of("lock"); len(got) != 0 {
		t.Errorf("got %q, want no lock that is held", got)
	}
}

func TestLeftovers(t *testing.T) {
	w := newWorld(t, "s1")
	old := w.now.Add(-time.Hour)
	for _, dir := range []string{w.dir + "/sessions/.staging/new-x", w.dir + "/sessions/.staging/closed-y", w.dir + "/.doctor-z"} {
		must(t, os.Mkdir(dir, 0o700))
		must(t, os.Chtimes(dir, old, old))
	}
	must(t, os.Mkdir(w.dir+"/sessions/.staging/new-now", 0o700))
	must(t, os.WriteFile(w.file("s1", "pending.json.damaged-20270115"), nil, 0o600))
	w.now = time.Now().Add(30 * time.Second) // somebody may still be at work on new-now
	all := w.examine()
	all.wants(t, "leftover", doctor.Note, "2 sessions", "closed-y")
	all.wants(t, "leftover", doctor.Note, "1 left by an examination", "rm -r "+w.dir+"/.doctor-z")
	all.wants(t, "leftover", doctor.Note, "1 file that repair set aside", "less "+w.file("s1", "pending.json.damaged-20270115"))
}

func TestOwnSession(t *testing.T) {
	w := newWorld(t, "s1")
	for own, part := range map[string]string{"s2": "no such session", "../x": "no session can be called"} {
		w.examine(func(o *doctor.Options) { o.Own = own }).wants(t, "session", doctor.Problem, own, part, "unset DOCKET_SESSION")
	}
	if got := w.examine().of("session"); len(got) != 0 {
		t.Errorf("got %q, want nothing about no session", got)
	}
}

// However many sessions have the same, only so many are named.
func TestOnlySoManyAreNamed(t *testing.T) {
	var ids []string
	for i := range 12 {
		ids = append(ids, fmt.Sprint("busy", i))
	}
	w := newWorld(t, ids...)
	for _, id := range ids {
		w.spoil(id, "pending.json")
	}
	seen := 0
	all := w.examine(func(o *doctor.Options) {
		o.Named, o.Progress = 3, func(i int, id string) { seen++ }
	})
	if got := all.of("queue"); len(got) != 4 {
		t.Errorf("got %q, want three sessions and the rest", got)
	}
	all.wants(t, "queue", doctor.Problem, "9 more sessions", "docket verify --all")
	if seen != 12 {
		t.Errorf("got told of %d sessions, want 12", seen)
	}
}

// Whoever has seen enough, or has no time, gets no more, and finds nothing left.
func TestExaminationThatIsCalledOff(t *testing.T) {
	w := newWorld(t, "s1")
	before := tree(t, w.dir)
	o := doctor.Options{Store: w.store}
	for n := 1; n < 12; n++ {
		seen := 0
		for range doctor.Examine(t.Context(), o) {
			if seen++; seen == n {
				break
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		seen = 0
		for range doctor.Examine(ctx, o) {
			if seen++; seen == n {
				cancel()
			}
		}
		cancel()
		if seen > n {
			t.Errorf("got %d findings, want none after the %d. ended it", seen, n)
		}
	}
	if after := tree(t, w.dir); after != before {
		t.Errorf("the store was changed: got\n%s\nwant\n%s", after, before)
	}
}

// Who has seen enough does not wait for the sessions that are left.
func TestSessionsAreNotLookedAtForNobody(t *testing.T) {
	w := newWorld(t, "s1", "s2", "s3")
	for _, id := range []string{"s1", "s2", "s3"} {
		w.spoil(id, "pending.json")
	}
	seen := 0
	for f := range doctor.Examine(t.Context(), doctor.Options{Store: w.store, Progress: func(int, string) { seen++ }}) {
		if f.Check == "queue" {
			break
		}
	}
	if seen != 1 {
		t.Errorf("got %d sessions looked at, want 1", seen)
	}
}

func Example() {
	dir, _ := os.MkdirTemp("", "store")
	defer os.RemoveAll(dir)
	store, _ := session.OpenStore(dir, session.Options{})
	for f := range doctor.Examine(context.Background(), doctor.Options{Store: store, Own: "worker-1"}) {
		if f.Level == doctor.Problem {
			fmt.Println(f.Check+":", f.Do)
		}
	}
	// Output:
	// session: unset DOCKET_SESSION
}
