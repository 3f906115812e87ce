package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// abandoned is how old what somebody is making must be to be taken for a leftover.
const abandoned = time.Minute

// leftovers says what dead processes left, as far as nobody else does.
func (e *examination) leftovers() {
	if e.absent {
		return
	}
	paths, err := e.Store.Leftovers()
	if err != nil {
		e.problem("leftover", "ls -la "+quoted(e.Store.Dir()), "%v", err)
	}
	if old := e.older(paths); len(old) > 0 {
		e.note("leftover", "", "%s that was not made or not removed to the end, such as %s: the next docket new or close removes it",
			count(len(old), "session"), old[0])
	}
	probes, err := filepath.Glob(filepath.Join(e.Store.Dir(), probePrefix+"*"))
	if old := e.older(probes); err == nil && len(old) > 0 {
		e.note("leftover", "rm -r "+quoted(old[0]), "%d left by an examination that was killed, such as %s", len(old), filepath.Base(old[0]))
	}
	if e.tally.aside > 0 {
		e.note("leftover", "less "+quoted(e.tally.firstAside), "%s that repair set aside, such as %s: remove it when nobody needs it any more",
			count(e.tally.aside, "file"), filepath.Base(e.tally.firstAside))
	}
}

// older returns those paths that have not been changed for a while.
func (e *examination) older(paths []string) (old []string) {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err == nil && e.Now().Sub(info.ModTime()) > abandoned && !strings.ContainsAny(path, "\n") {
			old = append(old, path)
		}
	}
	return old
}
