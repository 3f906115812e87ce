package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// The test binary is also the other process of the tests: with childAction set it
// does that action on the store and dies at the step with the number childDies.
const (
	childAction = "DOCKET_TEST_ACTION"
	childStore  = "DOCKET_TEST_STORE"
	childDies   = "DOCKET_TEST_DIES"
)

func TestMain(m *testing.M) {
	if action := os.Getenv(childAction); action != "" {
		os.Exit(child(action))
	}
	os.Exit(m.Run())
}

func child(action string) int {
	if n, err := strconv.Atoi(os.Getenv(childDies)); err == nil {
		step.Hook(func(string) {
			if n--; n == 0 {
				killSelf()
			}
		})
	}
	store, err := session.OpenStore(os.Getenv(childStore), session.Options{LockWait: time.Minute})
	if err == nil {
		err = actions[action](store)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func killSelf() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	panic(fmt.Sprint("still alive: ", err))
}

// command returns the command that runs action on store in another process.
func command(t *testing.T, store *session.Store, action string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self)
	c.Env = append(os.Environ(), append(env, childAction+"="+action, childStore+"="+store.Dir())...)
	return c
}

// dies runs action on store in a process that dies at its nth step, and returns
// false if it has no nth step.
func dies(t *testing.T, store *session.Store, action string, nth int) bool {
	t.Helper()
	out, err := command(t, store, action, childDies+"="+strconv.Itoa(nth)).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false
	case errors.As(err, &exit) && len(out) == 0:
		return true
	}
	t.Fatalf("%s, to die at step %d: %v\n%s", action, nth, err, out)
	return false
}

var ctx = context.Background()

// quickDir returns a new directory, in memory where that can be had: a sync
// costs nothing there, and what one leaves is simulated where it matters.
func quickDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "session-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { check(t, os.RemoveAll(dir)) })
	return dir
}

func newStore(t testing.TB) *session.Store {
	t.Helper()
	store, err := session.OpenStore(quickDir(t)+"/store", session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return store
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

func create(t failer, store *session.Store, id string) *session.Session {
	t.Helper()
	s, err := store.Create(ctx, session.New{ID: id})
	return released(t, s, err)
}

func open(t failer, store *session.Store, id string) *session.Session {
	t.Helper()
	s, err := store.Open(id)
	return released(t, s, err)
}

func released(t failer, s *session.Session, err error) *session.Session {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() {
		if err := s.Release(); err != nil {
			t.Fatalf("release: %v", err)
		}
	})
	return s
}

func record(t failer, s *session.Session) session.Record {
	t.Helper()
	r, err := s.Record()
	if err != nil {
		t.Fatalf("record: %v", err)
	}
	return r
}

func declare(t failer, s *session.Session, d session.Declaration) session.Declared {
	t.Helper()
	answer, err := s.Declare(ctx, d)
	if err != nil {
		t.Fatalf("declare %v: %v", d, err)
	}
	return answer
}

// declarations returns what the log says was declared, oldest first.
func declarations(t failer, s *session.Session) []session.Declaration {
	t.Helper()
	var all []session.Declaration
	for e, err := range s.Timeline().All(ctx) {
		if err != nil {
			t.Fatalf("read the log: %v", err)
		}
		if e.Kind == timeline.KindStatus {
			all = append(all, session.Declaration{Status: e.Status, Proposal: e.Proposal, Note: e.Note})
		}
	}
	return all
}

func words(ds []session.Declaration) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "%s/%s/%s ", d.Status, d.Proposal, d.Note)
	}
	return strings.TrimSpace(b.String())
}

func held(t failer, s *session.Session) *lock.Record {
	t.Helper()
	r, err := s.Locks().Record(ctx)
	if err != nil {
		t.Fatalf("lock: %v", err)
	}
	return r
}

func check(t failer, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

func wantError(t failer, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want one that is %v", err, want)
	}
}

var (
	active  = session.Declaration{Status: session.StatusActive}
	asking  = session.Declaration{Status: session.StatusAsking, Note: "which one?\n<&> 漢字"}
	merge   = session.Declaration{Status: session.StatusAwaiting, Proposal: session.ProposalMerge, Note: "ready"}
	nothing = session.Declaration{Status: session.StatusAwaiting, Proposal: session.ProposalNothing}
)
