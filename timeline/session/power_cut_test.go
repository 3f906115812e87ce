package session_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A view is everything that a store says of the session s.
type view struct {
	there                        bool
	closed                       uint64 // how many lives
	life                         uint64
	title, setting               string
	shown, internal              session.Declaration
	launching, archived, retired bool
	events                       string
}

// look returns what the store says once record and log were made to agree.
func look(t failer, store *session.Store) view {
	t.Helper()
	v := view{closed: lives(t, store, "s")}
	s, err := store.Open("s")
	if errors.Is(err, session.ErrNotFound) {
		return v
	}
	check(t, err)
	defer s.Release()
	check(t, heal(s))
	r := record(t, s)
	v.there, v.life, v.title, v.setting = true, r.Life, r.Title, r.Settings["k"]
	v.shown, v.internal = r.Authored(), session.Declaration{Status: r.Status, Proposal: r.Proposal, Note: r.Note}
	v.launching, v.archived, v.retired = r.Launching, r.Archived, r.Retired
	v.events = words(declarations(t, s))
	return v
}

// A deed is one thing that is done to the session s.
type deed struct {
	name string
	do   func(store *session.Store) error
}

// longTitle makes a record longer than a block.
var longTitle = strings.Repeat("title ", 150)

func createLong(store *session.Store) error {
	s, err := store.Create(ctx, session.New{ID: "s", Title: longTitle})
	if err != nil {
		return err
	}
	return s.Release()
}

func declares(d session.Declaration) func(*session.Store) error {
	return on(func(s *session.Session) error { _, err := s.Declare(ctx, d); return err })
}

func begins(d session.Declaration) func(*session.Store) error {
	return on(func(s *session.Session) error { return s.BeginLaunch(ctx, d) })
}

var deeds = []deed{
	{"create", createLong},
	{"declare", declares(active)},
	{"declare another", declares(asking)},
	{"begin a launch", begins(merge)},
	{"finish the launch", actions["finish"]},
	{"begin another launch", begins(active)},
	{"fail the launch", actions["fail"]},
	{"change the settings", on(func(s *session.Session) error {
		return s.Update(ctx, func(r *session.Record) error { r.Settings = map[string]string{"k": "v"}; return nil })
	})},
	{"archive", actions["archive"]},
	{"retire", on(func(s *session.Session) error { return s.Retire(ctx) })},
	{"close", actions["close"]},
	{"create again", createLong},
	{"declare again", declares(nothing)},
	{"close again", actions["close"]},
	{"create a third time", createLong},
}

// A workload is what was done, with the number of changes at the end of each deed,
// and what was to be seen then.
type workload struct {
	recorder
	ends  []int
	views []view // one more: the first is that of no store
}

func newWorkload(t *testing.T) *workload {
	t.Helper()
	w := &workload{recorder: recorder{root: quickDir(t)}, views: []view{{}}}
	store, err := session.OpenStore(filepath.Join(w.root, "store"), session.Options{})
	check(t, err)
	store.SetDisk(w.disk())
	defer step.Hook(func(string) { w.observe(t) })()
	for _, d := range deeds {
		if err := d.do(store); err != nil {
			t.Fatalf("%s: %v", d.name, err)
		}
		w.acknowledge(t)
		w.ends = append(w.ends, len(w.changes))
		w.views = append(w.views, look(t, store))
		w.changes = w.changes[:w.ends[len(w.ends)-1]] // looking healed nothing
	}
	return w
}

// during returns what can be seen of a deed that is cut off: what was before or what
// is after it. A session that is being closed is marked first.
func (st stage) during() []view {
	marked := st.before
	marked.closed = st.after.closed
	return []view{st.before, st.after, marked}
}

// The power is cut behind each call of a workload, and everything that a disk can
// have kept of what was not synced is tried. What returned is there; the deed that was
// cut off happened whole or not at all; and the next ones find a store in order.
func TestPowerCut(t *testing.T) {
	load := newWorkload(t)
	seen, root, inside := map[string]bool{}, quickDir(t), 0
	for cut := range len(load.changes) + 1 {
		done, _ := slices.BinarySearch(load.ends, cut+1)
		st := stage{before: load.views[done], after: load.views[min(done+1, len(deeds))]}
		replay(wreck{}, load.changes[:cut]).wrecks(func(w wreck) {
			if key := fmt.Sprintf("%d %s", done, w.key()); seen[key] || t.Failed() {
				return
			} else {
				seen[key] = true
			}
			dir := filepath.Join(root, fmt.Sprint(len(seen)))
			w.build(t, dir)
			got := lookAfterCut(t, dir)
			if got != st.before {
				inside++
			}
			if !slices.Contains(st.during(), got) {
				t.Errorf("cut behind %d calls: got\n%+v\nwant one of\n%+v\n%s", cut, got, st.during(), w)
			}
			goOn(t, dir, got)
			check(t, os.RemoveAll(dir))
			if t.Failed() {
				t.Logf("cut behind %d calls, the last of them %v\n%s", cut, load.changes[max(0, cut-1)], w)
			}
		})
	}
	t.Logf("%d calls, %d wrecks, in %d of them more than was acknowledged", len(load.changes), len(seen), inside)
	if len(seen) < 150 || inside < 20 {
		t.Errorf("got %d wrecks, %d with more than was acknowledged: the workload does too little", len(seen), inside)
	}
}

func (w wreck) key() string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(w)) {
		fmt.Fprintf(h, "%s %d %t %s", path, len(w[path]), w[path] == nil, w[path])
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (w wreck) String() string {
	var out strings.Builder
	for _, path := range slices.Sorted(maps.Keys(w)) {
		fmt.Fprintf(&out, "%s: %d bytes\n", path, len(w[path]))
	}
	return out.String()
}

// A stage is a store before one of the deeds, and what is to be seen before and after.
type stage struct {
	deed
	base          wreck // with its locks
	before, after view
}

// stages does the deeds one after the other.
func stages(t *testing.T) (all []stage) {
	t.Helper()
	root := quickDir(t)
	store := storeAfterCut(t, root)
	before := view{}
	for _, d := range deeds {
		base := snapshot(t, root)
		check(t, d.do(store))
		after := look(t, store)
		all = append(all, stage{d, base, before, after})
		before = after
	}
	return all
}

// A deed is cut off between any two calls of the disk, as by a death, and then done
// again by another process, which gets to the end; then the power is cut. What that
// process was told holds: it has made durable also what the first one left.
func TestPowerCutAfterADeath(t *testing.T) {
	root, seen := quickDir(t), map[string]bool{}
	for _, st := range stages(t) {
		for n := 0; ; n++ {
			r := &recorder{root: filepath.Join(root, fmt.Sprint(st.name, n)), trouble: &trouble{cause: syscall.EIO, after: n, stays: true}}
			st.base.build(t, r.root)
			if err := st.do(r.store(t)); r.trouble.path == "" {
				check(t, err)
				break
			}
			r.observe(t)
			r.trouble = nil
			dead := len(r.changes)
			want := again(t, r, st)
			r.acknowledge(t)
			for cut := dead; cut <= len(r.changes); cut++ {
				may := want
				if cut < len(r.changes) {
					may = append(st.during(), want...)
				}
				replay(st.base.withoutLocks(), r.changes[:cut]).wrecks(func(w wreck) {
					if key := fmt.Sprint(w.key(), st.name, len(may)); !seen[key] {
						seen[key] = true
						checkView(t, filepath.Join(root, fmt.Sprint(len(seen))), w, may, fmt.Sprintf("%s, cut off at call %d", st.name, n))
					}
				})
			}
		}
	}
	t.Logf("%d wrecks", len(seen))
}

func checkView(t *testing.T, dir string, w wreck, may []view, what string) {
	t.Helper()
	w.build(t, dir)
	if got := lookAfterCut(t, dir); !slices.Contains(may, got) {
		t.Fatalf("%s: got\n%+v\nwant one of\n%+v\n%s", what, got, may, w)
	}
	check(t, os.RemoveAll(dir))
}

func (r *recorder) store(t *testing.T) *session.Store {
	t.Helper()
	store, err := session.OpenStore(filepath.Join(r.root, "store"), session.Options{})
	check(t, err)
	store.SetDisk(r.disk())
	return store
}

// again does the deed that was cut off, in another process, or what comes after it if
// it was done already. It returns what can be left then.
func again(t *testing.T, r *recorder, st stage) []view {
	t.Helper()
	store := r.store(t)
	defer step.Hook(func(string) { r.observe(t) })()
	err := st.do(store)
	switch {
	case errors.Is(err, session.ErrExists):
		check(t, declares(active)(store))
	case errors.Is(err, session.ErrNotFound): // nobody was promised anything: it is whole, or gone
		check(t, create(t, store, "other").Release())
		return st.during()
	default:
		check(t, err)
	}
	seen := len(r.changes)
	v := look(t, store)
	r.changes = r.changes[:seen]
	return []view{v}
}

// storeAfterCut opens a store that syncs nothing.
func storeAfterCut(t *testing.T, dir string) *session.Store {
	t.Helper()
	store, err := session.OpenStore(filepath.Join(dir, "store"), session.Options{Timeline: timeline.Options{Buffered: true}})
	check(t, err)
	return store
}

func lookAfterCut(t *testing.T, dir string) view {
	t.Helper()
	return look(t, storeAfterCut(t, dir))
}

// goOn works on a store that a power cut left as got.
func goOn(t *testing.T, dir string, got view) {
	t.Helper()
	store := storeAfterCut(t, dir)
	if got.there {
		s, err := store.Open("s")
		check(t, err)
		if odd, err := s.Check(ctx); err != nil || len(odd) > 0 && got.life >= got.closed {
			t.Errorf("got %v, %v from a check", odd, err)
		}
		if !got.retired {
			parked := session.Declaration{Status: session.StatusParked}
			if !declare(t, s, parked).Moved || words(declarations(t, s)) != strings.TrimSpace(got.events+" "+words([]session.Declaration{parked})) {
				t.Errorf("got events %s after %s", words(declarations(t, s)), got.events)
			}
		}
		check(t, errors.Join(s.Close(ctx), s.Release()))
	}
	closed := lives(t, store, "s")
	if closed < got.closed || got.there && closed <= got.life {
		t.Errorf("got %d lives closed after %+v", closed, got)
	}
	wantLife(t, store, create(t, store, "s"), closed)
	inOrder(t, store)
}

// inOrder fails if something was left aside.
func inOrder(t *testing.T, store *session.Store) {
	t.Helper()
	for _, pattern := range []string{"sessions/.staging/*-*", "closed/.*", "closed/*~*", "sessions/*/session.json?*"} {
		if left, err := filepath.Glob(filepath.Join(store.Dir(), pattern)); err != nil || len(left) > 0 {
			t.Errorf("got left over %v, %v", left, err)
		}
	}
}
