package fleet_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/fleet"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/session"
)

// cursorOf returns the cursor at the end of a new store with these sessions.
func cursorOf(t testing.TB, sessions ...string) (fleet.Cursor, *session.Store) {
	t.Helper()
	store := newStore(t)
	for i, id := range sessions {
		made(t, store, id, strings.Split("1234567", "")[:i]...)
	}
	w := follow(t, store, fleet.Options{Mode: fleet.TailOnly})
	w.want("caught up")
	w.stop()
	return w.last, store
}

func TestCursorText(t *testing.T) {
	for _, ids := range [][]string{{}, {"a"}, {"worker-1", "worker-10", "worker-2", strings.Repeat("z", 128)}} {
		c, store := cursorOf(t, ids...)
		got, err := fleet.ParseCursor(c.String())
		check(t, err)
		if got.String() != c.String() || got.IsZero() || fmt.Sprint(got.Sessions()) != fmt.Sprint(ids) {
			t.Errorf("got %v of %v, want %v of %v", got, got.Sessions(), c, ids)
		}
		for i, id := range ids {
			if seq, ok := got.Seq(id); !ok || seq != uint64(i) {
				t.Errorf("got %d, %v in %s, want %d", seq, ok, id, i)
			}
		}
		if _, ok := got.Seq("nobody"); ok {
			t.Error("got a place in a session that there is not")
		}
		raw, err := json.Marshal(map[string]fleet.Cursor{"next": c})
		check(t, err)
		var back map[string]fleet.Cursor
		check(t, json.Unmarshal(raw, &back))
		w := follow(t, store, fleet.Options{Mode: fleet.After, After: back["next"]})
		w.want("caught up")
		if w.last.String() != c.String() || strings.ContainsAny(c.String(), "+/=&?% \n") {
			t.Errorf("got %s, want %s, safe in a URL", w.last, c)
		}
	}
}

func TestMalformedCursor(t *testing.T) {
	c, _ := cursorOf(t, "a", "b", "bb")
	good := c.String()
	texts := []string{"", "0", "null", good + "A", good + "\n", good[:8] + "\r\n" + good[8:], " " + good, strings.Repeat("A", fleet.MaxCursorText+1)}
	for i := range good {
		texts = append(texts, good[:i], good[:i]+good[i+1:])
		for _, c := range "Ab0-_" {
			if byte(c) != good[i] {
				texts = append(texts, good[:i]+string(c)+good[i+1:])
			}
		}
	}
	if one, err := timeline.ParseCursor(good); !errors.Is(err, timeline.ErrMalformedCursor) {
		t.Errorf("got %v, %v: a cursor of a fleet passes for one of a session", one, err)
	}
	for n := range 300 { // the shape of one depends on what it names
		one := timeline.NewCursor(strings.Repeat("s", n%128+1), segment.Epoch{byte(n)}, uint64(n))
		texts = append(texts, one.String())
	}
	for _, text := range texts {
		if c, err := fleet.ParseCursor(text); !errors.Is(err, timeline.ErrMalformedCursor) || !c.IsZero() || len(err.Error()) > 300 {
			t.Fatalf("%.100q: got %v, %v, want %v", text, c, err, timeline.ErrMalformedCursor)
		}
	}
	if (fleet.Cursor{}).String() != "" {
		t.Error("the zero cursor has a text")
	}
}

// A cursor of another store is refused, also where the sessions have the same names;
// it is not where all sessions were closed since.
func TestForeignCursor(t *testing.T) {
	c, store := cursorOf(t, "a", "b", "c")
	other, _ := cursorOf(t, "x", "b", "c")
	for _, err := range fleet.Follow(t.Context(), store, fleet.Options{Mode: fleet.After, After: other}) {
		if !errors.Is(err, timeline.ErrForeignCursor) {
			t.Errorf("got %v, want %v", err, timeline.ErrForeignCursor)
		}
		break
	}
	for _, id := range []string{"a", "b", "c"} {
		s, err := store.Open(id)
		check(t, err)
		closeSession(t, s)
	}
	made(t, store, "d")
	w := follow(t, store, fleet.Options{Mode: fleet.After, After: c})
	w.want("a-", "b-", "c-", "d+", "caught up")
}

// Whoever goes on from a cursor in the middle of the departures is told of the others,
// also of sessions whose id others bear since.
func TestCursorAmongDepartures(t *testing.T) {
	c, store := cursorOf(t, "a", "b", "c")
	for _, id := range []string{"a", "b", "c"} {
		s, err := store.Open(id)
		check(t, err)
		closeSession(t, s)
	}
	made(t, store, "b", "again")
	made(t, store, "c")
	w := follow(t, store, fleet.Options{Mode: fleet.After, After: c})
	w.want("a-")
	w = follow(t, store, fleet.Options{Mode: fleet.After, After: w.last})
	w.want("b-")
	w = follow(t, store, fleet.Options{Mode: fleet.After, After: w.last})
	w.want("c-", "b+", "b 0 again", "c+", "caught up")
}

func FuzzParseCursor(f *testing.F) {
	c, _ := cursorOf(f, "a", "ab", "b")
	f.Add(c.String())
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := fleet.ParseCursor(text)
		if err == nil && c.String() != text || err != nil && !errors.Is(err, timeline.ErrMalformedCursor) {
			t.Errorf("%q: got %v, %v", text, c, err)
		}
	})
}
