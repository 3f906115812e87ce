package fleet_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/session"
)

// rewrite replaces the newest segment of a session by what f makes of it.
func rewrite(t *testing.T, s *session.Session, f func([]byte) []byte) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.Dir(), "timeline", "*.ndjson"))
	check(t, err)
	path := paths[len(paths)-1]
	data, err := os.ReadFile(path)
	check(t, err)
	check(t, os.WriteFile(path, f(data), 0o600))
}

// An unreadable line is told once, and hides nothing else.
func TestUnreadableLines(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		a := made(t, store, "a", "1")
		b := made(t, store, "b", "2")
		rewrite(t, a, func(p []byte) []byte { return append(p, "what is this\n"...) })
		w := follow(t, store, fleet.Options{Poll: poll})
		w.want("a+", "a 0 1", "a!", "b+", "b 0 2", "caught up")
		say(t, b, "3")
		w.want("b 1 3")
		say(t, a, "4")
		w.want("a 1 4")
		rewrite(t, a, func(p []byte) []byte { return append(p, "and this\n"...) })
		say(t, a, "5")
		w.want("a!", "a 2 5")
	})
}

// An unreadable line at the very end is told before the mark, also to a reader that goes
// on from there; one that begins with what comes then is told of it with that.
func TestUnreadableEnd(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		a := made(t, store, "a", "1")
		b := made(t, store, "b", "2")
		w := follow(t, store, fleet.Options{Poll: poll})
		w.want("a+", "a 0 1", "b+", "b 0 2", "caught up")
		w.stop()
		rewrite(t, a, func(p []byte) []byte { return append(p, "what is this\n"...) })
		after := follow(t, store, fleet.Options{Mode: fleet.After, After: w.last, Poll: poll})
		after.want("a!", "caught up")
		tail := follow(t, store, fleet.Options{Mode: fleet.TailOnly, Poll: poll})
		tail.want("caught up")
		say(t, a, "3")
		after.want("a 1 3")
		tail.want("a!", "a 1 3")
		rewrite(t, b, func(p []byte) []byte { return append(p, "and this\n"...) })
		after.want("b!")
		tail.want("b!")
	})
}

// What a writer that was killed left behind the last newline is no history: the lines
// that are written in its place are new, however short.
func TestTornTail(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		a := made(t, store, "a", "1")
		rewrite(t, a, func(p []byte) []byte { return append(p, make([]byte, 3000)...) })
		w := follow(t, store, fleet.Options{Mode: fleet.TailOnly, Poll: poll})
		after := follow(t, store, fleet.Options{Poll: poll})
		w.want("caught up")
		after.want("a+", "a 0 1", "caught up")
		say(t, a, "2", "3")
		w.want("a 1 2", "a 2 3")
		after.want("a 1 2", "a 2 3")
	})
}

// A log that is two logs is told, and not read again and again.
func TestTwoLogsInOneDirectory(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		a, b := made(t, store, "a", "1", "2"), made(t, store, "b", "3")
		data, err := os.ReadFile(filepath.Join(b.Dir(), "timeline", "000000000001.ndjson"))
		check(t, err)
		w := follow(t, store, fleet.Options{Mode: fleet.TailOnly, Poll: poll})
		w.want("caught up")
		check(t, os.WriteFile(filepath.Join(a.Dir(), "timeline", "000000000002.ndjson"), data, 0o600))
		w.want("a-", "a+")
		for range 20 {
			say(t, b, "x")
		}
		for n := 1; seqOf(w.last, "b") < 21; n++ {
			w.take()
			if n > 40 {
				t.Fatalf("got %d updates", n)
			}
		}
	})
}

func seqOf(c fleet.Cursor, id string) uint64 {
	seq, _ := c.Seq(id)
	return seq
}

// A session that cannot be followed is told once, and joins when it can be.
func TestBrokenSessions(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		a := made(t, store, "a", "1")
		b := made(t, store, "b", "2")
		good, bad := filepath.Join(a.Dir(), "timeline"), filepath.Join(a.Dir(), "elsewhere")
		check(t, os.Rename(good, bad))
		check(t, os.Symlink(bad, good))
		w := follow(t, store, fleet.Options{Mode: fleet.TailOnly, Poll: poll})
		w.want("a!", "caught up")
		say(t, b, "3")
		w.want("b 1 3")
		check(t, os.Remove(good))
		check(t, os.Rename(bad, good))
		w.want("a+", "a 0 1")
		closeSession(t, a)
		w.want("a-")
	})
}

// A log that was cut back is told, and not followed by its numbers any more.
func TestLogThatWasCutBack(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		a := made(t, store, "a", "1")
		var before []byte
		rewrite(t, a, func(p []byte) []byte { before = p; return p })
		say(t, a, "2")
		b := made(t, store, "b")
		w := follow(t, store, fleet.Options{Poll: poll})
		w.want("a+", "a 0 1", "a 1 2", "b+", "caught up")
		rewrite(t, a, func([]byte) []byte { return before })
		w.want("a!")
		again := follow(t, store, fleet.Options{Mode: fleet.After, After: w.last, Poll: poll})
		_, err, _ := again.next()
		if own := (*fleet.SessionError)(nil); !errors.As(err, &own) || own.Session != "a" || !errors.Is(err, timeline.ErrFutureCursor) {
			t.Errorf("got %v, want %v of a", err, timeline.ErrFutureCursor)
		}
		again.want("caught up")
		fresh, err := store.Open("a")
		check(t, err)
		say(t, fresh, "3", "4", "5")
		check(t, fresh.Release())
		say(t, b, "6")
		w.want("b 0 6")
		again.want("b 0 6")
		closeSession(t, a)
		w.want("a-")
		made(t, store, "a", "7")
		w.want("a+", "a 0 7")
	})
}

// The directory of a session may go without being closed.
func TestDirectoryThatIsRemoved(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		a := made(t, store, "a", "1")
		w := follow(t, store, fleet.Options{Poll: poll})
		w.want("a+", "a 0 1", "caught up")
		check(t, os.RemoveAll(a.Dir()))
		w.want("a-")
		if _, err := os.Lstat(a.Dir()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want no directory", err)
		}
	})
}

// A session that another program began has one more form of log.
func TestLogOfAnotherProgram(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		a := made(t, store, "a")
		line := func(text string) {
			f, err := os.OpenFile(filepath.Join(a.Dir(), "timeline.ndjson"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			check(t, err)
			_, err = f.WriteString(`{"ts":"2026-01-01T00:00:00.000Z","kind":"sent","mid":"m","text":"` + text + `","from":null}` + "\n")
			check(t, errors.Join(err, f.Close()))
		}
		empty := follow(t, store, fleet.Options{Poll: poll})
		empty.want("a+", "caught up")
		line("1")
		empty.want("a 0 1")
		w := follow(t, store, fleet.Options{Mode: fleet.TailOnly, Poll: poll})
		w.want("caught up")
		line("2")
		w.want("a 1 2")
		check(t, os.MkdirAll(filepath.Join(a.Dir(), "timeline"), 0o700))
		say(t, a, "3")
		w.want("a 2 3")
		empty.want("a 1 2", "a 2 3")
	})
}

// A slow consumer finds everything that came meanwhile, and no session keeps the
// others waiting.
func TestSlowConsumer(t *testing.T) {
	store := newStore(t)
	loud, quiet := made(t, store, "loud", "0"), made(t, store, "quiet")
	w := follow(t, store, fleet.Options{Mode: fleet.TailOnly})
	w.want("caught up")
	const events = 1000
	for range events {
		say(t, loud, "x")
	}
	w.want("loud 1 x")
	say(t, quiet, "y")
	before := 1
	for w.take() != "quiet 0 y" {
		before++
	}
	if before > 600 {
		t.Errorf("the quiet session waited for %d events of the loud one", before)
	}
	for ; before < events-1; before++ {
		w.take()
	}
	w.want("loud 1000 x")
}
