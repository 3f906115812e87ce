//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// secret is what lies outside the store. A path that leads there leads astray.
const secret = "what docket must not read"

// An outside is a directory beside a store that nothing may touch.
type outside struct {
	t      *testing.T
	dir    string
	before map[string]string
}

func newOutside(t *testing.T) outside {
	t.Helper()
	o := outside{t: t, dir: t.TempDir()}
	event := `{"ts":"2026-01-02T03:04:05.678Z","kind":"sent","mid":"m1","text":"` + secret + `","from":null}` + "\n"
	for name, content := range map[string]string{
		"file":                                 event,
		"session/session.json":                 `{"session_id":"w","title":"` + secret + `"}`,
		"session/pending.json":                 `[{"mid":"m1","text":"` + secret + `"}]`,
		"session/timeline/000000000001.ndjson": event,
		"session/timeline.ndjson":              event,
		"session/record.lock":                  "", "session/delivery.lock": "",
	} {
		path := filepath.Join(o.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o.before = picture(t, o.dir)
	return o
}

// untouched checks that everything is as it was.
func (o outside) untouched(what string) {
	o.t.Helper()
	after := picture(o.t, o.dir)
	for path, is := range after {
		if was, ok := o.before[path]; !ok || was != is {
			o.t.Errorf("%s: %s outside the store is now %q, was %q", what, path, is, was)
		}
	}
	for path := range o.before {
		if _, ok := after[path]; !ok {
			o.t.Errorf("%s: %s outside the store is gone", what, path)
		}
	}
}

// picture is every file of a tree with its mode, time and content.
func picture(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		is := fmt.Sprint(info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			is += string(content)
		}
		all[path] = is
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// everyVerb is what is done to a session w about which something is wrong. Closing it
// comes last.
func everyVerb(mid string) [][]string {
	return [][]string{
		{"log", "w", "--all"}, {"log", "w", "--json"}, {"turns", "w"}, {"permit", "w", "p", "yes"}, {"pending", "w"}, {"state", "w", mid}, {"show", "w"}, {"ls"},
		{"wait", "w", "--timeout", "1ms"}, {"verify", "w"}, {"send", "w", "next", "--no-drain"}, {"send", "w", "next", "--key", "k"},
		{"ask", "w", "--note", "asked"}, {"drain", "w"}, {"confirm", "w", mid}, {"revoke", "w", mid}, {"seal", "w"},
		{"repair", "w"}, {"archive", "w"}, {"send", "lead", "from w", "--from", "w", "--no-drain"}, {"close", "w"}, {"new", "w"},
	}
}

// attack does everything to session w, and looks at what lies outside after each verb.
func (b box) attack(what string, o outside, mid string) {
	b.t.Helper()
	for _, args := range everyVerb(mid) {
		a := b.docket(args...)
		if strings.Contains(a.out+a.err, secret) {
			b.t.Errorf("%s: %v shows what lies outside: %q %q", what, args, a.out, a.err)
		}
		if a.status != statusDone && a.out+a.err == "" {
			b.t.Errorf("%s: %v: status %d without a word", what, args, a.status)
		}
		o.untouched(fmt.Sprintf("%s: %v", what, args))
	}
}

// plant puts something in the place of a file of that name, where it does not belong. A
// link leads to what could pass for the file.
func plant(t *testing.T, path, name, kind string, o outside) {
	t.Helper()
	target := filepath.Join(o.dir, "session", name)
	if _, err := os.Lstat(target); err != nil {
		target = filepath.Join(o.dir, "file")
	}
	err := os.RemoveAll(path)
	if err == nil {
		switch kind {
		case "a FIFO":
			err = unix.Mkfifo(path, 0o600)
		case "a link to a file":
			err = os.Symlink(target, path)
		case "a link to a session":
			err = os.Symlink(filepath.Join(o.dir, "session"), path)
		case "a link to nothing":
			err = os.Symlink(filepath.Join(o.dir, "nothing"), path)
		case "a directory":
			err = os.MkdirAll(filepath.Join(path, "more"), 0o700)
		case "a file":
			err = os.WriteFile(path, []byte(secret[:4]), 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever stands where a file of a session belongs: no verb hangs or breaks down, and
// none reads or changes anything outside the store.
func TestPlantedInASession(t *testing.T) {
	t.Parallel()
	names := []string{
		"session.json", "session.json.new", "pending.json", "pending.json.new", "pending.head", "pending.head.new",
		"record.lock", "delivery.lock", "turns", "turns.lock", "host.sock", "host.lock", "host.agent", "timeline", "timeline.ndjson",
		"timeline/000000000001.ndjson", "timeline/000000000001.ndjson.zst", "timeline/000000000002.ndjson", "timeline/000000000001.ndjson.zst.tmp",
	}
	kinds := []string{"a FIFO", "a link to a file", "a link to nothing", "a directory"} // a plain run takes two for each name
	base, mid := plantable(t)
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for j, kind := range kinds {
				if *sweepAll != "full" && (i+j)%2 == 0 {
					continue
				}
				b, o := base.fork(t), newOutside(t)
				plant(t, b.path("w", name), name, kind, o)
				b.attack(kind+" as "+name, o, mid)
			}
		})
	}
}

// The same goes for what the store is made of. A plain run takes half of it.
func TestPlantedInTheStore(t *testing.T) {
	t.Parallel()
	base, mid := plantable(t)
	for name, kinds := range map[string][]string{
		"sessions":          {"a FIFO", "a link to a file", "a link to nothing", "a file"},
		"sessions/w":        {"a FIFO", "a link to a file", "a link to a session", "a link to nothing", "a file"},
		"sessions/.staging": {"a FIFO", "a link to a file", "a link to a session", "a link to nothing", "a file"},
		"closed":            {"a FIFO", "a link to a file", "a link to a session", "a link to nothing", "a file"},
		"closed/w":          {"a FIFO", "a link to a file", "a link to a session", "a link to nothing", "a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for i, kind := range kinds {
				if *sweepAll != "full" && (i+len(name))%2 == 0 {
					continue
				}
				b, o := base.fork(t), newOutside(t)
				if err := os.MkdirAll(filepath.Join(b.store(), "closed"), 0o700); err != nil {
					t.Fatal(err)
				}
				plant(t, filepath.Join(b.store(), name), name, kind, o)
				b.attack(kind+" as "+name, o, mid)
			}
		})
	}
}

// plantable makes a store in which session w is owed three messages.
func plantable(t *testing.T) (b box, mid string) {
	t.Helper()
	b = newBox(t)
	b.must("new", "w", "--adapter", "none")
	b.must("new", "lead")
	mid = strings.TrimSpace(b.must("send", "w", "one", "--no-drain"))
	b.must("send", "w", "two", "--no-drain", "--key", "k2")
	b.must("send", "w", "three", "--no-drain", "--from", "lead")
	b.must("drain", "w", "--adapter", "file", "--set", "path=inbox")
	b.must("send", "w", "four", "--no-drain")
	return b, mid
}

// fork is copy for another test.
func (b box) fork(t *testing.T) box {
	t.Helper()
	again := box{t, t.TempDir(), b.env}
	if err := os.CopyFS(again.store(), os.DirFS(b.store())); err != nil {
		t.Fatal(err)
	}
	return again
}

// No id leads out of the store, whichever verb it is given to, and none that is
// refused leaves anything behind.
func TestIDsThatClimb(t *testing.T) {
	t.Parallel()
	b, mid := plantable(t)
	for _, dir := range []string{"beside/sessions/w", "beside/w"} {
		if err := os.CopyFS(filepath.Join(b.dir, dir), os.DirFS(b.path("w"))); err != nil {
			t.Fatal(err)
		}
	}
	o := outside{t, b.dir, picture(t, b.dir)} // the store, and what lies beside it
	for i, id := range []string{
		"..", ".", "../../beside/w", "../w/../../../beside/w", "/etc", b.dir + "/beside/w", "w/../../../beside/w", "w/", "w/.", "./w", "w\n",
		"%2e%2e", "..\\beside", "~", "$HOME", strings.Repeat("w", 129), "w ", "é", "\xff", ".staging",
	} {
		verbs := slices.DeleteFunc(everyVerb(mid), func(args []string) bool { return len(args) < 2 })
		verbs = append(verbs, []string{"follow", "w", "--tail"}, []string{"retire", "w"})
		for j, args := range verbs {
			if *sweepAll != "full" && (i+j)%4 != 0 {
				continue
			}
			args[slices.Index(args, "w")] = id
			b.refuses(args, statusRefused, statusUsage, statusNotFound)
		}
		b.refuses([]string{"new", "child", "--parent", id}, statusRefused)
		b.refuses([]string{"send", "w", "text", "--from", id, "--no-drain"}, statusRefused)
		o.untouched(fmt.Sprintf("id %q", id))
	}
}

// refuses checks that docket ends with one of the statuses.
func (b box) refuses(args []string, statuses ...int) {
	b.t.Helper()
	if a := b.docket(args...); !slices.Contains(statuses, a.status) {
		b.t.Errorf("%q: got status %d, want one of %d: %q %q", args, a.status, statuses, a.out, a.err)
	}
}
