package fleet_test

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
)

func TestFollow(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		a := made(t, store, "a", "1", "2")
		made(t, store, "b")
		c := made(t, store, "c", "3")
		w := follow(t, store, fleet.Options{Poll: poll})
		w.want("a+", "a 0 1", "a 1 2", "b+", "c+", "c 0 3", "caught up")
		for i, text := range []string{"4", "5", "6", "7", "8", "9"} { // over several segments
			say(t, a, text)
			w.want("a " + string(rune('2'+i)) + " " + text)
		}
		d := made(t, store, "d", "10", "11")
		w.want("d+", "d 0 10", "d 1 11")
		closeSession(t, c)
		w.want("c-")
		c = made(t, store, "c")
		w.want("c+")
		say(t, c, "12")
		w.want("c 0 12")
		closeSession(t, d)
		w.want("d-")
	})
}

func TestModes(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		a := made(t, store, "a", "1", "2")
		b := made(t, store, "b")
		tail := follow(t, store, fleet.Options{Mode: fleet.TailOnly, Poll: poll})
		say(t, b, "3") // between the call and the first step
		tail.want("caught up", "b 0 3")
		made(t, store, "c", "4")
		tail.want("c+", "c 0 4")
		say(t, a, "5")
		tail.want("a 2 5")

		closeSession(t, b)
		made(t, store, "b", "6")
		after := follow(t, store, fleet.Options{Mode: fleet.After, After: tail.last, Poll: poll})
		after.want("b-", "b+", "b 0 6", "caught up")
		tail.want("b-", "b+", "b 0 6")
		tail.stop()
		closeSession(t, a)
		after.want("a-")
	})
}

// Sessions that the patterns leave out are not seen, and keep their place.
func TestMatch(t *testing.T) {
	store := newStore(t)
	one := made(t, store, "team-1", "1")
	made(t, store, "other", "2")
	all := follow(t, store, fleet.Options{})
	all.want("other+", "other 0 2", "team-1+", "team-1 0 1", "caught up")
	w := follow(t, store, fleet.Options{Mode: fleet.After, After: all.last, Match: []string{"x", "team-*"}})
	w.want("caught up")
	made(t, store, "others", "3")
	made(t, store, "team-2", "4")
	w.want("team-2+", "team-2 0 4")
	say(t, one, "5")
	w.want("team-1 1 5")
	again := follow(t, store, fleet.Options{Mode: fleet.After, After: w.last})
	again.want("others+", "others 0 3", "caught up")
}

// Plain ids are followed as patterns are, also where the store holds others.
func TestPlainNames(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		a := made(t, store, "a", "1")
		made(t, store, "b", "2")
		w := follow(t, store, fleet.Options{Match: []string{"c", "a", "a", "..", "d"}, Poll: poll})
		w.want("a+", "a 0 1", "caught up")
		plain := follow(t, store, fleet.Options{Match: []string{"c", "a", "a"}, Poll: poll})
		plain.want("a+", "a 0 1", "caught up")
		made(t, store, "e", "3")
		made(t, store, "c", "4")
		for _, f := range []*watcher{w, plain} {
			f.want("c+", "c 0 4")
		}
		say(t, a, "5")
		closeSession(t, a)
		for _, f := range []*watcher{w, plain} {
			for got := f.take(); got != "a-"; got = f.take() {
				if got != "a 1 5" { // it may be gone with the session
					t.Fatalf("got %s", got)
				}
			}
		}
	})
}

// The cursors of single sessions make one of the fleet, and are given with the events.
func TestCursorsOfSessions(t *testing.T) {
	store := newStore(t)
	made(t, store, "a", "1", "2", "3")
	made(t, store, "b", "4", "5")
	empty := made(t, store, "c")
	begin, err := empty.Timeline().Start(t.Context())
	check(t, err)
	after := fleet.Cursor{}.With(begin)
	w := follow(t, store, fleet.Options{})
	for range 7 {
		u, err, _ := w.next()
		check(t, err)
		if u.Event.Text == "" {
			if !u.At.IsZero() {
				t.Errorf("got a place %v in a mark", u.At)
			}
			continue
		}
		if u.At.Session() != u.Session || u.At.Seq() != u.Event.Seq+1 {
			t.Errorf("got place %d in %s behind %d in %s", u.At.Seq(), u.At.Session(), u.Event.Seq, u.Session)
		}
		if u.Event.Text == "2" || u.Event.Text == "4" {
			after = after.With(u.At)
		}
	}
	again := follow(t, store, fleet.Options{Mode: fleet.After, After: after})
	again.want("a 2 3", "b 1 5", "caught up")
	say(t, empty, "6")
	again.want("c 0 6")
	back, err := fleet.ParseCursor(again.last.With(begin).String())
	check(t, err)
	third := follow(t, store, fleet.Options{Mode: fleet.After, After: back})
	third.want("c 0 6", "caught up")
}

// A follower may be there before the store is.
func TestFollowBeforeTheStore(t *testing.T) {
	both(t, func(t *testing.T, poll time.Duration) {
		store := newStore(t)
		w := follow(t, store, fleet.Options{Poll: poll})
		w.want("caught up")
		made(t, store, "a", "1")
		w.want("a+", "a 0 1")
	})
}

// A store that is made while the follower looks for it is found.
func TestStoreThatAppearsMeanwhile(t *testing.T) {
	for i := range 150 {
		dir := filepath.Join(t.TempDir(), strconv.Itoa(i))
		made := make(chan error)
		go func() {
			for _, name := range []string{"", "sessions"} {
				if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
					made <- err
					return
				}
			}
			made <- nil
		}()
		w := follow(t, storeAt(t, dir), fleet.Options{})
		w.want("caught up")
		check(t, <-made)
		check(t, create(t, storeAt(t, dir), "s1").Release())
		w.want("s1+")
		w.stop()
	}
}

func TestFollowRefuses(t *testing.T) {
	store := newStore(t)
	made(t, store, "a", "1")
	for _, tt := range []struct {
		name string
		o    fleet.Options
		want error
	}{
		{"pattern", fleet.Options{Match: []string{"a", "[", "b"}}, path.ErrBadPattern},
		{"zero cursor", fleet.Options{Mode: fleet.After}, timeline.ErrMalformedCursor},
		{"mode", fleet.Options{Mode: 7}, nil},
	} {
		n := 0
		for _, err := range fleet.Follow(t.Context(), store, tt.o) {
			if n++; err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
			}
		}
		if n != 1 {
			t.Errorf("%s: got %d updates, want the error alone", tt.name, n)
		}
	}
}

// An iteration ends with its context, also one that was not begun, and can be had
// again.
func TestFollowEnds(t *testing.T) {
	store := newStore(t)
	made(t, store, "a", "1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	updates := fleet.Follow(ctx, store, fleet.Options{Poll: time.Hour})
	for range 2 {
		got := ""
		for u, err := range updates {
			check(t, err)
			got += words(u) + ";"
			if u.CaughtUp {
				break
			}
		}
		if want := "a+;a 0 1;caught up;"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	unused := fleet.Follow(ctx, store, fleet.Options{})
	for u, err := range fleet.Follow(ctx, store, fleet.Options{}) {
		check(t, err)
		if u.Event.Text != "" {
			cancel() // nothing more is wanted of a consumer that does so and stops
			break
		}
	}
	for _, all := range []func(func(fleet.Update, error) bool){updates, unused} {
		for _, err := range all {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v, want %v", err, context.Canceled)
			}
		}
	}
}
