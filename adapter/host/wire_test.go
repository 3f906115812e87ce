//go:build linux || darwin

package host_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// A line is a connection spoken by hand.
type line struct {
	net.Conn
	in *bufio.Reader
}

// ring connects by hand and hears the welcome.
func ring(t *testing.T, dir string) *line {
	t.Helper()
	c, err := net.Dial("unix", filepath.Join(dir, "host.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	l := &line{c, bufio.NewReader(c)}
	if got := l.hear(); !strings.HasPrefix(got, `{"type":"welcome","version":1,"replay":1,`) {
		t.Fatalf("got %q, want a welcome with version and replay", got)
	}
	return l
}

// hear returns the next line, and what ended the connection if there is none.
func (l *line) hear() string {
	text, err := l.in.ReadString('\n')
	if err != nil {
		return text + err.Error()
	}
	return strings.TrimSuffix(text, "\n")
}

func (l *line) say(lines ...string) {
	_, _ = l.Write([]byte(strings.Join(lines, "\n") + "\n"))
}

const (
	helloSender   = `{"type":"hello","version":1,"role":"sender"}`
	helloRecorder = `{"type":"hello","version":1,"role":"recorder"}`
)

// Whatever a peer says, the broker answers it with a fault and goes on.
func TestHostilePeers(t *testing.T) {
	dir, agent := newDir(t), newFake()
	serve(t, dir, only(agent))
	record(t, dir)
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
	}{
		{"another version", []string{`{"type":"hello","version":2,"role":"sender"}`}, "version"},
		{"no version", []string{`{"type":"hello","role":"sender"}`}, "version"},
		{"no hello", []string{`{"type":"probe"}`}, "protocol"},
		{"no role", []string{`{"type":"hello","version":1}`}, "protocol"},
		{"unknown role", []string{`{"type":"hello","version":1,"role":"god"}`}, "protocol"},
		{"second recorder", []string{helloRecorder}, "owned"},
		{"no JSON", []string{"GET / HTTP/1.1"}, "protocol"},
		{"empty line", []string{""}, "protocol"},
		{"null", []string{"null"}, "protocol"},
		{"a list", []string{"[]"}, "protocol"},
		{"two values", []string{helloSender + helloSender}, "protocol"},
		{"unknown field", []string{`{"type":"hello","version":1,"role":"sender","admin":true}`}, "protocol"},
		{"field of another type", []string{`{"type":"hello","version":1,"role":"sender","token":"t"}`}, "protocol"},
		{"unknown type", []string{helloSender, `{"type":"shutdown"}`}, "protocol"},
		{"a recorder's word from a sender", []string{helloSender, `{"type":"dispatch","token":"t"}`}, "protocol"},
		{"not UTF-8", []string{helloSender, "{\"type\":\"lookup\",\"mid\":\"\xff\"}"}, "protocol"},
		{"deep", []string{strings.Repeat("[", 100_000)}, "protocol"},
		{"number too large", []string{`{"type":"hello","version":99999999999999999999}`}, "protocol"},
		{"unknown permission", []string{helloSender, `{"type":"decide","permission":"p","option":"o"}`}, "permission"},
	} {
		l := ring(t, dir)
		l.say(tt.lines...)
		var f struct{ Type, Reason, Text string }
		if got := l.hear(); json.Unmarshal([]byte(got), &f) != nil || f.Type != "fault" || f.Reason != tt.want || f.Text == "" {
			t.Errorf("%s: got %.200q, want a fault for %s", tt.name, got, tt.want)
		}
		if got := l.hear(); got != "EOF" && !strings.Contains(got, "reset") {
			t.Errorf("%s: got %q, want the end", tt.name, got)
		}
	}
	insert(t, dir, prompt("m1"), adapter.Taken)
	if len(agent.received()) != 1 {
		t.Errorf("got %d prompts, want the one that was sent", len(agent.received()))
	}
}

// A recorder that says what makes no sense is let go, and the agent is not touched.
func TestHostileRecorder(t *testing.T) {
	dir, agent := newDir(t), newFake()
	serve(t, dir, only(agent))
	for _, said := range []string{
		`{"type":"dispatch","token":"t"}`, `{"type":"dispatch"}`, `{"type":"reject","token":"t"}`, `{"type":"ready","token":"t"}`,
		`{"type":"abandon","token":"t"}`, `{"type":"prompt","mid":"m"}`, `{"type":"welcome"}`, `{`,
	} {
		eventually(t, "the recorder before has left", func() bool {
			l := ring(t, dir)
			l.say(helloRecorder)
			if got := l.hear(); !strings.HasPrefix(got, `{"type":"attached"`) {
				return false
			}
			l.say(`{"type":"ack","token":"x","n":7}`, `{"type":"found","mid":"never asked","state":1}`, `{"type":"rebind","token":"x","n":1}`)
			if got := l.hear(); !strings.Contains(got, `"reason":"token"`) {
				t.Errorf("rebind: got %q, want a fault for the token", got)
			}
			heard := ""
			for l.say(said); !strings.HasSuffix(heard, "EOF") && !strings.Contains(heard, "reset"); {
				heard += l.hear()
			}
			if !strings.Contains(heard, `"reason":"protocol"`) {
				t.Errorf("%s: got %q, want a fault", said, heard)
			}
			return true
		})
	}
	if got := agent.received(); len(got) != 0 {
		t.Errorf("got %v at the agent, want nothing", got)
	}
	record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
}

// A request that is not complete is none.
func TestTornRequest(t *testing.T) {
	dir, agent := newDir(t), newFake()
	serve(t, dir, only(agent))
	record(t, dir)
	request := `{"type":"prompt","mid":"m1","session":"s1","text":"x"}` + "\n"
	for cut := range len(request) {
		l := ring(t, dir)
		_, _ = l.Write([]byte(helloSender + "\n" + request[:cut]))
		l.Close()
	}
	if p, err := host.NewClient(dir).Lookup(t.Context(), "m1"); p != adapter.Absent || err != nil {
		t.Errorf("Lookup: got %s, %v, want absent", p, err)
	}
	if got := agent.received(); len(got) != 0 {
		t.Errorf("got %v at the agent, want nothing", got)
	}
}

// A request that lay unread when its message was looked up is not obeyed any more: its
// sender may be dead, and the look has said that the prompt is absent.
func TestLookFencesOlderConnections(t *testing.T) {
	dir, agent := newDir(t), newFake()
	serve(t, dir, only(agent))
	record(t, dir)
	older := ring(t, dir)
	newer := host.NewClient(dir)
	if p, err := newer.Lookup(t.Context(), "m1"); p != adapter.Absent || err != nil {
		t.Fatalf("Lookup: got %s, %v, want absent", p, err)
	}
	older.say(helloSender, `{"type":"prompt","mid":"m1","session":"s1","text":"late"}`)
	if got := older.hear(); !strings.HasPrefix(got, `{"type":"refused"`) || !strings.Contains(got, `"reason":"busy"`) {
		t.Errorf("got %q, want the older request refused", got)
	}
	insert(t, dir, prompt("m1"), adapter.Taken)
	if got := agent.received(); len(got) != 1 || got[0].Text != "text of m1" {
		t.Errorf("got %v at the agent, want the newer alone", got)
	}
}

// A look at a prompt that is on its way waits for its answer.
func TestLookWaitsForThePromptOnItsWay(t *testing.T) {
	dir, agent := newDir(t), newFake()
	sinks, release := make(chan host.Sink, 1), make(chan struct{})
	agent.set(slow(sinks, release))
	serve(t, dir, only(agent))
	record(t, dir)
	l := ring(t, dir)
	l.say(helloSender, `{"type":"prompt","mid":"m1","session":"s1","text":"x"}`)
	receive(t, "sink", sinks)
	l.Close() // the sender dies while the agent has not answered
	looked := make(chan adapter.Presence, 1)
	go func() {
		p, _ := host.NewClient(dir).Lookup(t.Context(), "m1")
		looked <- p
	}()
	close(release)
	if p := receive(t, "look", looked); p != adapter.Present {
		t.Errorf("got %s, want present", p)
	}
}

func TestOversizedPromptsAreRefused(t *testing.T) {
	dir, agent := newDir(t), newFake()
	serve(t, dir, only(agent))
	record(t, dir)
	fit := adapter.Prompt{MID: "m1", Session: "s1", Text: strings.Repeat("\x01", 100<<10) + "end"}
	insert(t, dir, fit, adapter.Taken)
	if got := agent.received(); len(got) != 1 || got[0].Text != fit.Text {
		t.Error("got another text, want it byte for byte")
	}
	for name, p := range map[string]adapter.Prompt{
		"text":            {MID: "m2", Text: strings.Repeat("x", host.MaxTextBytes+1)},
		"attributes":      {MID: "m2", Attributes: map[string]string{"a": strings.Repeat("x", host.MaxTextBytes)}},
		"mid":             {MID: strings.Repeat("x", 2000)},
		"not UTF-8":       {MID: "m2", Text: "\xff"},
		"attribute bytes": {MID: "m2", Attributes: map[string]string{"\xff": ""}},
	} {
		if err := host.NewClient(dir).Insert(t.Context(), p); adapter.AnswerOf(err) != adapter.Refused {
			t.Errorf("%s: got %v, want it refused", name, err)
		}
	}
}

// Without a host nothing is there to be reached.
func TestNoHost(t *testing.T) {
	dir := newDir(t)
	c := host.NewClient(dir)
	check := func(when string) {
		t.Helper()
		err := c.Insert(t.Context(), prompt("m1"))
		if !errors.Is(err, host.ErrNoHost) || !errors.Is(err, adapter.ErrGone) || adapter.AnswerOf(err) != adapter.Refused {
			t.Errorf("%s: Insert: got %v, want ErrNoHost", when, err)
		}
		if err := c.Interrupt(t.Context()); !errors.Is(err, host.ErrNoHost) {
			t.Errorf("%s: Interrupt: got %v, want ErrNoHost", when, err)
		}
		if _, err := host.Attach(t.Context(), dir); !errors.Is(err, host.ErrNoHost) {
			t.Errorf("%s: Attach: got %v, want ErrNoHost", when, err)
		}
		reached := c.Reach(t.Context())
		if !errors.Is(reached, host.ErrNoHost) {
			t.Errorf("%s: Reach: got %v, want ErrNoHost", when, reached)
		}
		if died := when == "stale socket"; errors.Is(err, host.ErrDied) != died || errors.Is(reached, host.ErrDied) != died {
			t.Errorf("%s: Insert: got %v, Reach: %v, want it told whether the last one was killed", when, err, reached)
		}
	}
	check("no socket")
	socket := filepath.Join(dir, "host.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	check("stale socket")
	serve(t, dir, only(newFake())) // replaces it
	if err := c.Reach(t.Context()); err != nil {
		t.Errorf("Reach a host: %v", err)
	}
	if info, err := os.Lstat(socket); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v, want mode 0600", info.Mode(), err)
	}
}
