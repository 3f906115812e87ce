package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/doctor"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A world is a store whose agents answer as their sessions are called.
type world struct {
	t     testing.TB
	dir   string
	store *session.Store
	*dispatch.Dispatcher
	now time.Time
}

func newWorld(t testing.TB, ids ...string) *world {
	t.Helper()
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "store"), now: time.Now()}
	var err error
	w.store, err = session.OpenStore(w.dir, session.Options{Timeline: timeline.Options{Buffered: true}})
	must(t, err)
	w.Dispatcher = dispatch.New(w.store, dispatch.Options{Adapters: registry, Now: func() time.Time { return w.now }})
	t.Cleanup(func() { w.Close() })
	for _, id := range ids {
		w.create(session.New{ID: id, Adapter: "agent"})
	}
	return w
}

func (w *world) create(n session.New) {
	w.t.Helper()
	s, err := w.store.Create(w.t.Context(), n)
	must(w.t, errors.Join(err, s.Release()))
}

// registry has the one kind that there is.
var registry = adapter.Registry{{
	Name: "agent",
	Open: func(s adapter.Session, _ map[string]string) (adapter.Adapter, error) { return agent(s.ID), nil },
}}

// An agent is busy, does not answer, or takes what it gets.
type agent string

func (agent) Headless() bool { return false }

func (a agent) Insert(context.Context, adapter.Prompt) error {
	switch {
	case strings.HasPrefix(string(a), "busy"):
		return adapter.ErrBusy
	case strings.HasPrefix(string(a), "vague"):
		return errors.New("the line went dead")
	}
	return nil
}

// secret is the text of every message.
const secret = "xyzzy"

func (w *world) send(id string) (mid string) {
	w.t.Helper()
	a, err := w.SendText(w.t.Context(), id, dispatch.Message{Text: secret, NoDrain: strings.HasPrefix(id, "later")})
	must(w.t, err)
	return a.MID
}

// file is the path of a session's file.
func (w *world) file(id, name string) string { return filepath.Join(w.dir, "sessions", id, name) }

func (w *world) spoil(id, name string) {
	w.t.Helper()
	must(w.t, os.WriteFile(w.file(id, name), []byte("{]"), 0o600))
}

// examine returns the findings, after it has made sure that nothing of the store has
// changed and that each finding is one that is documented.
func (w *world) examine(set ...func(o *doctor.Options)) findings {
	w.t.Helper()
	o := doctor.Options{Store: w.store, Kinds: registry, Watch: time.Millisecond, Now: func() time.Time { return w.now }}
	for _, f := range set {
		f(&o)
	}
	before := tree(w.t, w.dir)
	var all findings
	for f := range doctor.Examine(w.t.Context(), o) {
		all = append(all, f)
		if !slices.Contains(checks(w.t), f.Check) {
			w.t.Errorf("got a finding called %q, which is not documented", f.Check)
		}
		if f.Text == "" || strings.Contains(f.Text+f.Do, secret) || strings.Contains(f.Text+f.Do, "\n") {
			w.t.Errorf("got %+v, want a line of text, and nothing of a message's", f)
		}
		if f.Level == doctor.Problem && f.Do == "" {
			w.t.Errorf("got %+v, want what to do about a problem", f)
		}
	}
	if after := tree(w.t, w.dir); after != before {
		w.t.Errorf("the store was changed: got\n%s\nwant\n%s", after, before)
	}
	return all
}

type findings []doctor.Finding

// of returns those with a check, each as level, session, text and what to do.
func (all findings) of(check string) (lines []string) {
	for _, f := range all {
		if f.Check == check {
			lines = append(lines, fmt.Sprintf("%s %s: %s -> %s", f.Level, f.Session, f.Text, f.Do))
		}
	}
	return lines
}

// wants fails unless one finding of the check has the level and each part.
func (all findings) wants(t testing.TB, check string, level doctor.Level, parts ...string) {
	t.Helper()
next:
	for _, line := range all.of(check) {
		if !strings.HasPrefix(line, string(level)+" ") {
			continue
		}
		for _, part := range parts {
			if !strings.Contains(line, part) {
				continue next
			}
		}
		return
	}
	t.Errorf("%s: got\n%s\nwant a %s with %q", check, strings.Join(all.of(check), "\n"), level, parts)
}

func (all findings) problems() (lines []string) {
	for _, f := range all {
		if f.Level == doctor.Problem {
			lines = append(lines, f.Check+" "+f.Session+": "+f.Text)
		}
	}
	return lines
}

// checks are the words that the package comment lists.
func checks(t testing.TB) (words []string) {
	t.Helper()
	text, err := os.ReadFile("doc.go")
	must(t, err)
	for line := range strings.Lines(string(text)) {
		if rest, listed := strings.CutPrefix(line, "//\t"); listed && strings.Contains(rest, "  ") {
			words = append(words, strings.Fields(rest)[0])
		}
	}
	return words
}

// tree is everything that is in a directory: names, modes, and what is in files.
func tree(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s", path, info.Mode())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %v %q", info.ModTime(), data)
		}
		b.WriteByte('\n')
		return nil
	})
	must(t, err)
	return b.String()
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
