//go:build linux || darwin

package host_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
)

// A detailing agent tells more than its emissions do.
type detailing struct{ deciding }

func (detailing) Details(permission string) string { return "the whole of " + permission }

// What waits for an answer is told to whoever looks, with details that no emission has.
func TestAsks(t *testing.T) {
	dir, agent := newDir(t), newFake()
	c := host.NewClient(dir)
	if list, err := c.Asks(t.Context()); !errors.Is(err, host.ErrNoHost) {
		t.Errorf("got %v, %v without a host, want ErrNoHost", list, err)
	}
	sinks := make(chan host.Sink, 2)
	agent.set(holds(sinks))
	serve(t, dir, func(context.Context, *host.Seat) (host.Agent, error) {
		return detailing{deciding{agent, func() error { return nil }}}, nil
	})
	d := record(t, dir)
	asks := func(when string, want ...host.Waiting) {
		t.Helper()
		got, err := c.Asks(t.Context())
		if err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v, want %+v", when, got, err, want)
		}
	}
	asks("before a turn")
	insert(t, dir, prompt("m1"), adapter.Taken)
	to := receive(t, "sink", sinks)
	to.Emit(host.Native{}, allow)
	d.wait(t, 1)
	asks("while it waits", host.Waiting{ID: "p1", Title: "run it", Options: []string{"y"}, Details: "the whole of p1"})
	if err := c.Decide(t.Context(), "p1", "y"); err != nil {
		t.Fatal(err)
	}
	asks("when it is answered")
	to.Emit(host.Native{}, host.Permission{ID: "p2", Title: "run more", State: host.Asked})
	to.Finish(host.Native{}, success)
	if all := strings.Join(d.wait(t, 5), "\n"); strings.Contains(all, "the whole of") {
		t.Errorf("got %s, want no details", all)
	}
	asks("when the turn is over")
}

func TestDetailsOf(t *testing.T) {
	for _, tt := range []struct{ name, params, want string }{
		{"each field in a line", `{"cwd":"/x","command":"rm -rf build","id":"7"}`, "command: rm -rf build\ncwd: /x"},
		{"what is no text stays JSON", `{"n":1,"list":[ "a", {"b": null} ],"none":null}`, "list: [\"a\",{\"b\":null}]\nn: 1"},
		{"lines of a text stay lines", `{"diff":"-a\n+b"}`, "diff: -a\n  +b"},
		{"a text is no other field", `{"command":"rm -rf /\ncwd: /x"}`, "command: rm -rf /\n  cwd: /x"},
		{"a name is no other field", `{"a\ncwd":"/x","b: c":1}`, "\"a\\ncwd\": /x\n\"b: c\": 1"},
		{"nothing", `{}`, ""},
		{"no object", `["x"]`, `["x"]`},
		{"null", `null`, `null`},
		{"no JSON", `x`, `x`},
	} {
		if got := host.DetailsOf(json.RawMessage(tt.params), "id"); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Details that were cut do not look whole.
func TestDetailsThatAreTooLong(t *testing.T) {
	dir, agent := newDir(t), newFake()
	sinks := make(chan host.Sink, 1)
	agent.set(holds(sinks))
	serve(t, dir, func(context.Context, *host.Seat) (host.Agent, error) {
		return lengthy{deciding{agent, func() error { return nil }}}, nil
	})
	d := record(t, dir)
	insert(t, dir, prompt("m1"), adapter.Taken)
	receive(t, "sink", sinks).Emit(host.Native{}, allow)
	d.wait(t, 1)
	got, err := host.NewClient(dir).Asks(t.Context())
	if err != nil || len(got) != 1 || !strings.HasSuffix(got[0].Details, "x\n(5 bytes more are not shown)") {
		t.Errorf("got %.80v, %v, want that some of it is not shown", got, err)
	}
}

type lengthy struct{ deciding }

func (lengthy) Details(string) string { return strings.Repeat("x", 64<<10+5) }

// A host whose process is stopped has its socket still: who asks it is not kept.
func TestSilentHost(t *testing.T) {
	t.Cleanup(host.SilentAfter(50 * time.Millisecond))
	for _, says := range []string{"", `{"type":"welcome","version":1,"replay":1}` + "\n"} {
		dir := newDir(t)
		l, err := net.Listen("unix", filepath.Join(dir, "host.sock"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				t.Cleanup(func() { conn.Close() })
				io.WriteString(conn, says)
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c := host.NewClient(dir)
		if list, err := c.Asks(ctx); !errors.Is(err, host.ErrSilent) {
			t.Errorf("says %q: got %v, %v, want ErrSilent", says, list, err)
		}
		if says != "" {
			continue // it greets, and a prompt takes as long as the agent takes it
		}
		if state, err := c.Probe(ctx); state != adapter.Blocked || !errors.Is(err, host.ErrSilent) {
			t.Errorf("got %v, %v, want that a pass ends before its insert", state, err)
		}
		if err := c.Insert(ctx, prompt("m1")); adapter.AnswerOf(err) != adapter.Refused || !errors.Is(err, host.ErrSilent) {
			t.Errorf("got %v, want a refusal that is ErrSilent", err)
		}
	}
}

// A host that is stopped while it has a prompt keeps nobody either: nobody knows what
// becomes of the prompt once it goes on.
func TestHostThatFallsSilent(t *testing.T) {
	t.Cleanup(host.SilentAfter(50 * time.Millisecond))
	dir := newDir(t)
	l, err := net.Listen("unix", filepath.Join(dir, "host.sock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		greeted := 0
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { conn.Close() })
			if greeted++; greeted <= 3 { // that of the prompt, and twice whether it lives
				io.WriteString(conn, `{"type":"welcome","version":1,"replay":1}`+"\n")
			}
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	err = host.NewClient(dir).Insert(ctx, prompt("m1"))
	if adapter.AnswerOf(err) != adapter.Unconfirmed || !errors.Is(err, host.ErrSilent) {
		t.Errorf("got %v, want that it is unconfirmed, and ErrSilent", err)
	}
}
