package httpread_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/httpread"
)

// An sse is one event that a client got.
type sse struct{ id, event, data string }

// A client reads a stream as a browser does.
type client struct {
	t      testing.TB
	resp   *http.Response
	lines  *bufio.Scanner
	cancel context.CancelFunc
	beats  int
}

func (f *fixture) follow(path string, headers ...string) *client {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	f.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, f.url+path, nil)
	if err != nil {
		f.t.Fatal(err)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || got != "text/event-stream; charset=utf-8" {
		f.t.Fatalf("got %s %s", resp.Status, got)
	}
	c := &client{t: f.t, resp: resp, lines: bufio.NewScanner(resp.Body), cancel: cancel}
	c.lines.Buffer(nil, 64<<20)
	f.t.Cleanup(c.leave)
	return c
}

func (c *client) leave() {
	c.cancel()
	c.resp.Body.Close()
}

// next returns the next event, and false when the stream has ended.
func (c *client) next() (e sse, ok bool) {
	for c.lines.Scan() {
		name, value, _ := strings.Cut(c.lines.Text(), ": ")
		switch name {
		case "id":
			e.id = value
		case "event":
			e.event = value
		case "data":
			e.data = value
		case "": // the end of an event, or a heartbeat
			if e.event != "" {
				return e, true
			}
			c.beats++
		}
	}
	return sse{}, false
}

// mid returns the next event's mid, which must be one of a message.
func (c *client) mid() (mid, id string) {
	c.t.Helper()
	e, ok := c.next()
	var sent struct{ MID string }
	if err := json.Unmarshal([]byte(e.data), &sent); !ok || err != nil || e.event != "event" {
		c.t.Fatalf("got %+v %v %v, want an event", e, ok, err)
	}
	return sent.MID, e.id
}

func (c *client) want(event string) sse {
	c.t.Helper()
	e, ok := c.next()
	if !ok || e.event != event {
		c.t.Fatalf("got %+v %v, want %s", e, ok, event)
	}
	return e
}

func TestAStreamCatchesUpOnceAndGoesOn(t *testing.T) {
	f := begin(t)
	s := f.make("a")
	f.numbered(s, 0, 2)
	f.declare(s, "awaiting", "merge", "look")
	c := f.follow("/api/sessions/a/events")
	for _, want := range []string{"m0", "m1"} {
		if got, _ := c.mid(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if e := c.want("event"); !strings.HasSuffix(e.data, `"note":"look","display":"review"}`) {
		t.Errorf("got %s", e.data)
	}
	mark := c.want("caught-up")
	if end, err := s.Timeline().End(t.Context()); err != nil || mark.id != end.String() {
		t.Errorf("got %+v, want the end %s %v", mark, end, err)
	}
	f.numbered(s, 2, 2)
	for _, want := range []string{"m2", "m3"} {
		if got, _ := c.mid(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestWhereAStreamBegins(t *testing.T) {
	f := begin(t)
	s := f.make("a")
	f.numbered(s, 0, 3)
	second := f.page("/api/sessions/a/timeline?limit=1").First
	if got, _ := f.follow("/api/sessions/a/events?after=" + second).mid(); got != "m2" {
		t.Errorf("after: got %s", got)
	}
	if got, _ := f.follow("/api/sessions/a/events?after=start", "Last-Event-ID: "+second).mid(); got != "m2" {
		t.Errorf("the header goes first: got %s", got)
	}
	if got, _ := f.follow("/api/sessions/a/events?after=start").mid(); got != "m0" {
		t.Errorf("start: got %s", got)
	}
	c := f.follow("/api/sessions/a/events?after=end")
	c.want("caught-up")
	f.numbered(s, 3, 1)
	if got, _ := c.mid(); got != "m3" {
		t.Errorf("end: got %s", got)
	}
}

// A client that breaks off and resumes again and again, while messages come, sees
// each one once and in order.
func TestResumingLosesAndDoublesNothing(t *testing.T) {
	const n = 300
	f := begin(t)
	s := f.make("a")
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := range n {
			_, err := s.Timeline().Append(t.Context(), timeline.Sent{MID: fmt.Sprint("m", i), Text: "x"})
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	defer writer.Wait()
	id, seen := "", 0
	for step := 1; seen < n; step++ {
		c := f.follow("/api/sessions/a/events", "Last-Event-ID: "+id)
		for range step % 17 {
			e, ok := c.next()
			if !ok {
				t.Fatal("the stream ended")
			}
			if id = e.id; e.event == "caught-up" {
				continue
			}
			if want := fmt.Sprintf(`"mid":"m%d"`, seen); !strings.Contains(e.data, want) {
				t.Fatalf("got %s, want %s", e.data, want)
			}
			if seen++; seen == n {
				break
			}
		}
		c.leave()
	}
}

func TestHeartbeats(t *testing.T) {
	f := begin(t, func(o *httpread.Options) { o.Heartbeat = time.Millisecond })
	s := f.make("a")
	c := f.follow("/api/sessions/a/events")
	c.want("caught-up")
	for before := c.beats; c.beats < before+2; {
		if !c.lines.Scan() {
			t.Fatal("the stream ended")
		}
		if c.lines.Text() == ":" {
			c.beats++
		}
	}
	f.numbered(s, 0, 1)
	if got, _ := c.mid(); got != "m0" {
		t.Errorf("got %s behind heartbeats", got)
	}
}

// A client that does not read is dropped while the log is far larger than what was
// read of it, and goes on with the last id that it has.
func TestASlowClientIsDroppedAndResumes(t *testing.T) {
	var log lockedBuffer
	f := begin(t, func(o *httpread.Options) {
		o.WriteWait, o.Logger = 300*time.Millisecond, log.logger()
	})
	s := f.make("a")
	const n = 24
	for i := range n {
		f.append(s, timeline.Sent{MID: fmt.Sprint("m", i), Text: strings.Repeat("x", 1<<20)})
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(f.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET /api/sessions/a/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
	log.wait(t, "stream dropped")

	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, resp: resp, lines: bufio.NewScanner(resp.Body), cancel: func() {}}
	c.lines.Buffer(nil, 64<<20)
	got, id := 0, ""
	for e, ok := c.next(); ok; e, ok = c.next() {
		got, id = got+1, e.id
	}
	if got == n {
		t.Fatal("a client that does not read got everything")
	}
	h, err := httpread.New(httpread.Options{Store: f.store}) // with time enough for this client
	if err != nil {
		t.Fatal(err)
	}
	f.url = serve(t, h)
	c = f.follow("/api/sessions/a/events", "Last-Event-ID: "+id)
	for ; got < n; got++ {
		if mid, _ := c.mid(); mid != fmt.Sprint("m", got) {
			t.Fatalf("got %s, want m%d", mid, got)
		}
	}
}

func TestAStreamEndsWithItsSession(t *testing.T) {
	f := begin(t)
	s := f.make("a")
	c := f.follow("/api/sessions/a/events")
	c.want("caught-up")
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if e := c.want("closed"); !strings.Contains(e.data, "session-closed") {
		t.Errorf("got %s", e.data)
	}
	if e, ok := c.next(); ok {
		t.Errorf("got %+v behind the end", e)
	}
}

func TestCloseEndsStreams(t *testing.T) {
	f := begin(t)
	f.make("a")
	h, err := httpread.New(httpread.Options{Store: f.store})
	if err != nil {
		t.Fatal(err)
	}
	f.url = serve(t, h)
	c := f.follow("/api/sessions/a/events")
	c.want("caught-up")
	h.Close()
	if e, ok := c.next(); ok {
		t.Errorf("got %+v behind Close", e)
	}
	f.get("/api/sessions/a/events").refused(t, 503, "busy")
	if a := f.get("/api/sessions"); a.StatusCode != 200 {
		t.Errorf("got %s", a.Status)
	}
}

func TestStreamsAreBounded(t *testing.T) {
	f := begin(t, func(o *httpread.Options) { o.MaxStreams = 1 })
	f.make("a")
	f.follow("/api/sessions/a/events").want("caught-up")
	a := f.get("/api/sessions/a/events")
	a.refused(t, 503, "busy")
	if !a.Close {
		t.Error("who was refused keeps the connection")
	}
	if a.Header.Get("Retry-After") == "" {
		t.Error("nothing says when to try again")
	}
}

// A line of another writer may hold a carriage return between its fields; in a
// stream that must not end a line.
func TestALineOfAnotherWriterForgesNothing(t *testing.T) {
	f := begin(t)
	s := f.make("a")
	line := "{\"ts\":\"2026-11-30T09:30:15.780Z\",\r\"kind\":\"sent\",\"mid\":\"m0\",\"text\":\"a\\r\\nevent: closed\\n\\n\",\rid: x\r\r\"from\":null}\n"
	good := strings.Replace(line, "\rid: x\r\r", "\r\r", 1)
	if err := os.WriteFile(filepath.Join(s.Dir(), "timeline.ndjson"), []byte(line+good), 0o600); err != nil {
		t.Fatal(err)
	}
	c := f.follow("/api/sessions/a/events")
	e := c.want("unreadable")
	if !strings.Contains(e.data, "unreadable-timeline") || strings.Contains(e.data, s.Dir()) {
		t.Errorf("got %s", e.data)
	}
	if mid, _ := c.mid(); mid != "m0" {
		t.Errorf("got %s", mid)
	}
	c.want("caught-up")
	if p := f.page("/api/sessions/a/timeline"); p.Unreadable != 1 || p.mids() != "m0" {
		t.Errorf("got %+v", p)
	}
}
