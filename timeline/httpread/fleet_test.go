package httpread_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/httpread"
)

// In the stream over all sessions every event names its session, and resuming
// loses and doubles nothing.
func TestFollowingAllSessions(t *testing.T) {
	f := begin(t)
	a, b := f.make("a"), f.make("b")
	f.numbered(a, 0, 3)
	f.numbered(b, 0, 3)
	id, got := "", map[string][]string{}
	take := func(n int, headers ...string) {
		t.Helper()
		c := f.follow("/api/events", headers...)
		defer c.leave()
		for n > 0 {
			e, ok := c.next()
			if !ok || e.id == "" {
				t.Fatalf("got %+v %v", e, ok)
			}
			var said struct{ Session, MID string }
			if err := json.Unmarshal([]byte(e.data), &said); err != nil {
				t.Fatal(err)
			}
			if id = e.id; e.event == "event" {
				got[said.Session] = append(got[said.Session], said.MID)
				n--
			}
		}
	}
	take(4)
	f.numbered(a, 3, 1)
	take(2, "Last-Event-ID: "+id)
	f.numbered(b, 3, 1)
	take(2, "Last-Event-ID: "+id)
	if want := "map[a:[m0 m1 m2 m3] b:[m0 m1 m2 m3]]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestSessionsJoinAndLeave(t *testing.T) {
	f := begin(t)
	f.make("team-1")
	c := f.follow("/api/events?after=end&match=nobody-*&match=team-*")
	c.want("caught-up")
	f.make("other")
	s := f.make("team-2")
	if e := c.want("joined"); e.data != `{"session":"team-2"}` {
		t.Errorf("got %+v", e)
	}
	f.declare(s, "active", "", "at work")
	if e := c.want("event"); !strings.HasSuffix(e.data, `"session":"team-2","display":"working"}`) {
		t.Errorf("got %+v", e)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e := c.want("left"); e.data != `{"session":"team-2"}` {
		t.Errorf("got %+v", e)
	}
}

// What is unreadable in one session keeps no other waiting, and names no place.
func TestAnUnreadableLineAmongAllSessions(t *testing.T) {
	f := begin(t)
	bad := f.make("bad")
	lines := `{"ts":"2026-11-30T09:30:15.780Z","kind":"sent","mid":"m1","text":` + "\n" + `{"kind":"sent","mid":"m2","text":"x"}` + "\n"
	if err := os.WriteFile(filepath.Join(bad.Dir(), "timeline.ndjson"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	f.numbered(f.make("good"), 0, 1)
	c := f.follow("/api/events")
	var unreadable sse
	var events []string
	for e, ok := c.next(); ok && e.event != "caught-up"; e, ok = c.next() {
		if e.event == "unreadable" {
			unreadable = e
		}
		events = append(events, e.data)
	}
	if e := unreadable; !strings.HasPrefix(e.data, `{"session":"bad","error":`) || strings.Contains(e.data, bad.Dir()) || e.id == "" {
		t.Errorf("got %+v", e)
	}
	for _, mid := range []string{`"m0"`, `"m2"`} {
		if !strings.Contains(fmt.Sprint(events), mid) {
			t.Errorf("got %q, want %s among them", events, mid)
		}
	}
}

// An id has to fit into a request; where it does not, a client forgets the one that
// it has rather than to resume at a place that is not its own.
func TestTooManySessionsHaveNoID(t *testing.T) {
	f := begin(t)
	for i := range httpread.MaxIDBytes / 150 {
		f.make(fmt.Sprintf("%03d", i) + strings.Repeat("x", 120))
	}
	c := f.follow("/api/events")
	none := 0
	for e, ok := c.next(); ok && e.event != "caught-up"; e, ok = c.next() {
		if len(e.id) > httpread.MaxIDBytes {
			t.Fatalf("got an id of %d bytes", len(e.id))
		}
		if e.id != "" && none > 0 {
			t.Fatal("ids came back")
		}
		if e.id == "" {
			none++
		}
	}
	if none == 0 {
		t.Error("every event had an id")
	}
}
