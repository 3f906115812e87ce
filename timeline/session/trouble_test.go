package session_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
)

// A trouble lets one call of a disk fail, or that one and every later one. A nil
// trouble never strikes.
type trouble struct {
	do    string // which kind of call; empty means every kind
	cause error  // nil: a write that is short without an error
	after int    // how many of them go well before
	part  bool   // half of the bytes of a write arrive
	stays bool
	path  string // of the call that failed first; empty while none has
}

func (b *trouble) strikes(do, path string) bool {
	if b == nil || b.do != "" && b.do != do {
		return false
	}
	b.after--
	if b.after >= 0 || b.path != "" && !b.stays {
		return false
	}
	if b.path == "" {
		b.path = path
	}
	return true
}

func (b *trouble) strike(do, path string) error {
	if !b.strikes(do, path) {
		return nil
	}
	return &os.PathError{Op: do, Path: path, Err: b.cause}
}

// write returns what of p arrives, and the trouble that strikes.
func (b *trouble) write(path string, p []byte) ([]byte, *trouble) {
	if !b.strikes("write", path) {
		return p, nil
	}
	if b.part {
		return p[:len(p)/2], b
	}
	return nil, b
}

func (b *trouble) err() error {
	if b.cause == nil {
		return nil
	}
	return &os.PathError{Op: "write", Path: b.path, Err: b.cause}
}

var troubles = []trouble{
	{do: "open", cause: syscall.EMFILE},
	{do: "open", cause: syscall.EIO},
	{do: "names", cause: syscall.EMFILE},
	{do: "names", cause: syscall.EIO},
	{do: "create", cause: syscall.ENOSPC},
	{do: "create", cause: syscall.EDQUOT},
	{do: "create", cause: syscall.EMFILE},
	{do: "create", cause: syscall.EROFS},
	{do: "mkdir", cause: syscall.ENOSPC},
	{do: "mkdir", cause: syscall.EROFS},
	{do: "write", cause: syscall.ENOSPC, part: true},
	{do: "write", cause: syscall.EDQUOT},
	{do: "write", cause: syscall.EIO, part: true},
	{do: "write", part: true},
	{do: "sync", cause: syscall.EIO},
	{do: "sync", cause: syscall.ENOSPC},
	{do: "sync names", cause: syscall.EIO},
	{do: "sync names", cause: syscall.EMFILE},
	{do: "rename", cause: syscall.ENOSPC},
	{do: "rename", cause: syscall.EIO},
	{do: "remove", cause: syscall.EROFS},
	{do: "remove", cause: syscall.EIO},
	{do: "remove all", cause: syscall.EIO},
	{cause: syscall.EIO, stays: true},
	{cause: syscall.ENOSPC, stays: true},
	{cause: syscall.EROFS, stays: true},
}

// Each call of the disk fails in turn, once or for good, in all that is done to a
// session. The error says what was attempted, on which session and on which file, and
// nothing of files that never were. What is there is what was before or, if the error
// says that it is in doubt, what was wanted; the next attempt goes well; and nothing is left aside.
func TestTroubleAtEachCall(t *testing.T) {
	met := map[string]bool{}
	for _, st := range stages(t) {
		for _, kind := range troubles {
			for n := 0; ; n++ {
				tr := kind
				tr.after = n
				r := &recorder{root: quickDir(t), trouble: &tr}
				st.base.build(t, r.root)
				err := st.do(r.store(t))
				if tr.path == "" {
					check(t, err)
					break
				}
				met[tr.do] = true
				what := fmt.Sprintf("%s, %s %d: %v", st.name, tr.do, n, tr.cause)
				checkTroubleError(t, what, err, &tr)
				checkTroubled(t, what, r, st, err)
				check(t, os.RemoveAll(r.root))
			}
		}
	}
	for _, kind := range troubles {
		if !met[kind.do] {
			t.Errorf("%s: the call is never made", kind.do)
		}
	}
}

func checkTroubleError(t *testing.T, what string, err error, tr *trouble) {
	t.Helper()
	want := tr.cause
	if want == nil {
		want = io.ErrShortWrite
	}
	wantError(t, err, want)
	if text := err.Error(); !strings.HasPrefix(text, "session s: ") || strings.Count(text, "session s: ") > 1 ||
		!strings.Contains(text, tr.path) || strings.Contains(text, "no such file") || !tr.stays && strings.Contains(text, "\n") {
		t.Errorf("%s: got error %q", what, text)
	}
}

// checkTroubled looks at what a failing disk has left and goes on.
func checkTroubled(t *testing.T, what string, r *recorder, st stage, err error) {
	t.Helper()
	doubt := errors.Is(err, segment.ErrFaulted)
	store := storeAfterCut(t, r.root)
	got := look(t, store)
	if !slices.Contains(st.during(), got) {
		t.Fatalf("%s: got\n%+v\nwant one of\n%+v", what, got, st.during())
	}
	if changed := got != st.before; changed != doubt && got.there && !(strings.HasPrefix(st.name, "close") && !doubt) {
		t.Errorf("%s: got %+v, in doubt %v", what, got, doubt)
	}
	if stands := errors.Is(err, session.ErrInDoubt); strings.HasPrefix(st.name, "declare") && stands != (got != st.before) {
		t.Errorf("%s: got %+v, and is told that it stands: %v", what, got, stands)
	}
	if !r.trouble.stays && r.trouble.do != "remove all" && (got.there || strings.HasPrefix(st.name, "create")) {
		inOrder(t, store)
	}
	err = st.do(store)
	if !errors.Is(err, session.ErrExists) && !errors.Is(err, session.ErrNotFound) {
		check(t, err)
	}
	if got := look(t, store); got != st.after {
		t.Fatalf("%s: then got\n%+v\nwant\n%+v", what, got, st.after)
	}
	check(t, create(t, store, "other").Close(ctx))
	inOrder(t, store)
	if t.Failed() {
		t.Fatal(what)
	}
}
