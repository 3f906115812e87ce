package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
)

// What a client sends goes through the real thing: it is recorded once, owed while the
// agent is busy, delivered when it is not, and told as that each time.
func TestServeTakesAndDelivers(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.agent("s1")
	s := b.serve("--listen", "127.0.0.1:0")
	first := s.mustPost("s1", "run the tests", "client-key-1")
	if again := s.mustPost("s1", "run the tests", "client-key-1"); !again.Replayed || again.MID != first.MID {
		t.Errorf("again: got %+v, want a replay of %s", again, first.MID)
	}
	if other, err := s.post("s1", "another text", "Idempotency-Key: client-key-1"); err != nil || other.status != 409 || other.Code != "key-reused" {
		t.Errorf("got %v, %v, want 409 key-reused", other, err)
	}
	history := s.get("sessions/s1/timeline")
	if len(history.Events) != 1 || history.Events[0].MID != first.MID || history.Events[0].ReplyVia != "note" {
		t.Errorf("got %s, want one message", history.body)
	}
	if same := s.get("sessions/s1/timeline", "If-None-Match: "+history.etag); same.status != 304 || same.body != "" {
		t.Errorf("got %d %q, want 304", same.status, same.body)
	}
	b.eventually("the agent is busy", func() bool {
		p := s.get("sessions/s1/pending")
		return len(p.Pending) == 1 && p.Pending[0].MID == first.MID && strings.Contains(p.Pending[0].LastError, "busy")
	})
	states := func() string { return s.get("sessions/s1/states?mid=" + first.MID).States[first.MID].State }
	if got := states(); got != "owed" {
		t.Errorf("got %s, want it owed", got)
	}
	b.wake()
	second := s.mustPost("s1", "and lint it", "client-key-2") // which hastens the first, too
	b.eventually("both are delivered", func() bool {
		return s.get("sessions/s1/states?mid=" + second.MID).States[second.MID].State == "delivered" && states() == "delivered"
	})
	// A message is settled in the log first, and then leaves the queue.
	b.eventually("nothing is owed", func() bool { return s.get("sessions/s1/pending").Total == 0 })
	inbox, err := os.ReadFile(b.dir + "/inbox")
	if got := string(inbox); err != nil || strings.Count(got, "run the tests") != 1 || strings.Index(got, "run the tests") > strings.Index(got, "and lint it") {
		t.Errorf("the agent has %q, %v, want each once and in order", got, err)
	}
	for _, path := range []string{"sessions", "sessions/s1", "sessions/s1/timeline", "sessions/s1/pending"} {
		for _, secret := range []string{"eceipt", "igest", "ettled", "http-input", "client-key-1", b.dir, busyUnlessUp[:12]} {
			if a := s.get(path); strings.Contains(a.body, secret) {
				t.Errorf("%s tells %q: %s", path, secret, a.body)
			}
		}
	}
}

func TestServeRefusesStrangers(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.must("new", "s1")
	s := b.serve("--listen", "127.0.0.1:0", "--host", "docket.example")
	for _, tt := range []struct {
		header string
		status int
		code   string
	}{
		{"Host: docket.example", 202, ""},
		{"Host: evil.example", 421, "bad-host"},
		{"Origin: http://evil.example", 403, "bad-origin"},
		{"Origin: null", 403, "bad-origin"},
		{"Sec-Fetch-Site: cross-site", 403, "bad-origin"},
		{"Content-Type: text/plain", 415, "bad-content-type"},
	} {
		if a, err := s.post("s1", "hello", tt.header); err != nil || a.status != tt.status || a.Code != tt.code {
			t.Errorf("%s: got %v, %v, want %d %s", tt.header, a, err, tt.status, tt.code)
		}
	}
	if owed := s.get("sessions/s1/pending"); owed.Total != 1 {
		t.Errorf("got %s, want the one that was accepted", owed.body)
	}

	token := "0123456789abcdef"
	if err := os.WriteFile(b.dir+"/token", []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	guarded := b.serve("--listen", "127.0.0.1:0", "--token-file", "token", "--read-only")
	if a := guarded.get("sessions"); a.status != 401 {
		t.Errorf("got %v, want 401 without the token", a)
	}
	bears := "Authorization: Bearer " + token
	if a := guarded.get("sessions", bears); a.status != 200 {
		t.Errorf("got %v, want 200 with the token", a)
	}
	if a, err := guarded.post("s1", "hello", bears); err != nil || a.status != 501 || a.Code != "not-offered" {
		t.Errorf("got %v, %v, want a surface that only reads", a, err)
	}
}

// Each kind of address is printed as a URL that works.
func TestServeAddresses(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.must("new", "s1")
	token := "0123456789abcdef"
	if err := os.WriteFile(b.dir+"/token", []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	for listen, starts := range map[string]string{
		"0": "http://127.0.0.1:", "localhost:0": "http://127.0.0.1:", "[::1]:0": "http://[::1]:",
		"0.0.0.0:0": "http://localhost:", ":0": "http://localhost:",
	} {
		if l, err := net.Listen("tcp", "[::1]:0"); err != nil && listen == "[::1]:0" {
			t.Logf("no IPv6 here: %v", err)
			continue
		} else if err == nil {
			l.Close()
		}
		s := b.serve("--listen", listen, "--token-file", "token")
		if !strings.HasPrefix(s.url, starts) || strings.HasSuffix(s.url, ":0") {
			t.Errorf("%s: got %s, want %s and a port", listen, s.url, starts)
		}
		if a := s.get("sessions/s1", "Authorization: Bearer "+token); a.status != http.StatusOK {
			t.Errorf("%s: got %v", listen, a)
		}
		s.end(syscall.SIGINT)
	}
}

// A server that is killed in the middle of a request leaves no half of a message, and a
// client that sends again with its key leaves no second one.
func TestServeIsKilledInAPost(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.must("new", "s1", "--adapter", "file", "--set", "path="+b.dir+"/got")
	for i, moment := range []func(text string) bool{
		func(string) bool { return true }, // while it is on its way
		func(text string) bool { return strings.Contains(b.must("log", "s1", "--all"), text) },
		func(text string) bool { return holds(b.path("s1", "timeline", "000000000001.ndjson"), text) },
		func(text string) bool { return holds(b.path("s1", "pending.json"), text) || holds(b.dir+"/got", text) },
	} {
		text, key := fmt.Sprint("message ", i), fmt.Sprint("key-", i)
		s := b.serve("--listen", "127.0.0.1:0")
		answered := make(chan error, 1)
		go func() {
			_, err := s.post("s1", text, "Idempotency-Key: "+key)
			answered <- err
		}()
		b.eventually("the moment of "+text, func() bool { return moment(text) })
		s.end(os.Kill)
		<-answered // or it was not

		s = b.serve("--listen", "127.0.0.1:0")
		mid := s.mustPost("s1", text, key).MID
		b.eventually(text+" is delivered", func() bool {
			return s.get("sessions/s1/states?mid=" + mid).States[mid].State == "delivered"
		})
		s.end(syscall.SIGTERM)
		if n := strings.Count(b.must("log", "s1", "--all", "--json"), text); n != 1 {
			t.Errorf("%s is in the log %d times, want once", text, n)
		}
		if got, err := os.ReadFile(b.dir + "/got"); err != nil || strings.Count(string(got), text) != 1 {
			t.Errorf("the agent has %q, %v, want %s once", got, err, text)
		}
	}
	if said := b.must("verify", "s1"); said != "s1: no fault\n" {
		t.Errorf("got %q, want no fault", said)
	}
}

func holds(path, text string) bool {
	content, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(content), text)
}

// The first signal lets a request that is under way come to its end, ends streams and
// idle connections, and takes no new ones.
func TestServeEndsInGoodOrder(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.must("new", "s1")
	s := b.serve("--listen", "127.0.0.1:0")
	idle, err := net.Dial("tcp", s.address())
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	stream, err := http.Get(s.url + "/api/sessions/s1/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	slow, err := net.Dial("tcp", s.address())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	said := `{"text":"said at the end"}`
	fmt.Fprintf(slow, "POST /api/sessions/s1/input HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(said))
	answers := bufio.NewReader(slow)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("got %q, %v, want the server to wait for the body", line, err)
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Errorf("the stream: got %v, want it to end", err)
	}
	b.eventually("no new connection is taken", func() bool {
		c, err := net.Dial("tcp", s.address())
		if err == nil {
			c.Close()
		}
		return err != nil
	})
	if n, err := idle.Read(make([]byte, 1)); err == nil {
		t.Errorf("got %d bytes for nothing, want the idle connection to end", n)
	}
	if _, err := io.WriteString(slow, said); err != nil {
		t.Error(err)
	}
	answers.ReadString('\n')
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "202 Accepted") {
		t.Errorf("the request under way: got %q, %v, want it accepted", line, err)
	}
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("got %v: %s", err, &s.said)
	}
	if log := b.must("log", "s1"); !strings.Contains(log, "said at the end") {
		t.Errorf("got %q, want what was accepted", log)
	}
}
