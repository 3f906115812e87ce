package watching_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/session"
)

// command prepares the test binary as another process.
func command(t testing.TB, j job) *exec.Cmd {
	t.Helper()
	content, err := json.Marshal(j)
	must(t, err)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(content))
	return cmd
}

// dies runs a child that kills itself at its n-th step, and returns that step's name;
// it is empty if the child has no such step.
func (w *world) dies(j job, n int) string {
	w.t.Helper()
	j.Store, j.DieAt = w.dir, n
	cmd := command(w.t, j)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err == nil {
		return ""
	}
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Exited() {
		w.t.Fatalf("%v: %v: %s", j, err, &complaints)
	}
	return strings.TrimSpace(string(out))
}

// A process dies by SIGKILL at each step of what it does. Whoever comes next tells each
// declaration that stands to each watcher, once, in order.
func TestDeathAtEveryStep(t *testing.T) {
	for _, tt := range []struct {
		does  string
		steps []string // that must have been died at
	}{
		{"declare", []string{"session: session.json replaced", "dispatch: recorded", "dispatch: owed", "watching: sent", "watching: told", "session: watchers.json replaced"}},
		{"tell", []string{"dispatch: recorded", "watching: sent", "session: new watchers.json written"}},
		{"unwatch", []string{"session: new watchers.json written", "watching: list emptied", "watching: list removed"}},
		{"watch", []string{"session: new watchers.json written", "session: watchers.json replaced"}},
	} {
		t.Run(tt.does, func(t *testing.T) {
			t.Parallel()
			var died []string
			for n := 1; ; n++ {
				step := deathAt(t, tt.does, n)
				if step == "" {
					break
				}
				died = append(died, step)
			}
			for _, step := range tt.steps {
				if !slices.Contains(died, step) {
					t.Errorf("nobody died at %q: %q", step, died)
				}
			}
		})
	}
}

func deathAt(t *testing.T, does string, n int) string {
	t.Helper()
	w := newWorld(t, "s1", "lead", "other")
	w.watch("s1", "lead")
	if does != "watch" && does != "unwatch" {
		w.watch("s1", "other")
	}
	w.declare("s1", "one")
	w.declare("s1", "two")
	by := "lead"
	if does == "watch" {
		by = "other"
	}
	step := w.dies(job{Does: does, ID: "s1", By: by, Notes: list("three", "four")}, n)

	w.start()
	w.tell("s1")
	w.in("s1", func(s *session.Session) error {
		r, err := s.Record()
		if told := w.notes("lead"); does == "declare" && !slices.Contains(told, r.Note) {
			t.Errorf("died at %q: %s is declared, and lead was told %v", step, r.Note, told)
		}
		return err
	})
	watching := slices.Contains(w.watchers("s1"), "other")
	w.declare("s1", "last")
	w.tell("s1")
	want := w.declared()
	if got := w.notes("lead"); !slices.Equal(got, want) && !(does == "unwatch" && slices.Equal(got, list("one", "two"))) {
		t.Fatalf("died at %q: lead was told %v, want %v", step, got, want)
	}
	switch {
	case does == "watch" && watching:
		want = list("last")
	case does == "watch", does == "unwatch":
		want = nil
	}
	if got := w.notes("other"); !slices.Equal(got, want) {
		t.Fatalf("died at %q: other was told %v, want %v", step, got, want)
	}
	return step
}

// declared returns the notes of what s1 has declared.
func (w *world) declared() (notes []string) {
	w.t.Helper()
	for _, e := range w.events("s1") {
		notes = append(notes, e.Note)
	}
	return notes
}

// Several processes declare and tell at once, and others tell beside them, while one
// watcher comes and goes.
func TestManyProcesses(t *testing.T) {
	w := newWorld(t, "s1", "lead", "other", "fickle")
	w.watch("s1", "lead")
	w.watch("s1", "other")
	var running []*exec.Cmd
	for i := range 4 {
		j := job{Store: w.dir, Does: "declare", ID: "s1"}
		for n := range 10 {
			j.Notes = append(j.Notes, fmt.Sprint("process ", i, " note ", n))
		}
		running = append(running, command(t, j), command(t, job{Store: w.dir, Does: "tell", ID: "s1"}))
	}
	running = append(running, command(t, job{Store: w.dir, Does: "flicker", ID: "s1", By: "fickle"}))
	for _, cmd := range running {
		cmd.Stderr = os.Stderr
		must(t, cmd.Start())
	}
	for _, cmd := range running {
		must(t, cmd.Wait())
	}
	w.tell("s1")
	want := w.declared()
	if len(want) != 40 {
		t.Fatalf("got %d declarations", len(want))
	}
	wantEqual(t, "lead", w.notes("lead"), want)
	wantEqual(t, "other", w.notes("other"), want)
	rest := want
	for _, note := range w.notes("fickle") {
		i := slices.Index(rest, note)
		if i < 0 {
			t.Fatalf("fickle was told of %q twice, or too late: %v", note, w.notes("fickle"))
		}
		rest = rest[i+1:]
	}
	wantEqual(t, "watchers", w.watchers("s1"), list("lead", "other"))
}

// What was declared before a watch begins, or after it ends, is not told, also if the
// process that declared it died before its event was there.
func TestWatchHealsFirst(t *testing.T) {
	w := newWorld(t, "s1", "lead")
	dies := func(note string) {
		w.dies(job{Does: "declare", ID: "s1", Notes: list(note), DieOn: "session: session.json replaced"}, 0)
		w.start()
	}
	dies("before")
	w.watch("s1", "lead")
	dies("meanwhile")
	w.unwatch("s1", "lead")
	w.declare("s1", "after")
	w.tell("s1")
	wantEqual(t, "declared", w.declared(), list("before", "meanwhile", "after"))
	wantEqual(t, "lead", w.notes("lead"), list("meanwhile"))
}
