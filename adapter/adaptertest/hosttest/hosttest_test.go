package hosttest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/host"
)

// A verdict is a test that notes what it is told is wrong.
type verdict struct {
	testing.TB
	wrong []string
}

func (v *verdict) Helper() {}

func (v *verdict) Errorf(format string, args ...any) {
	v.wrong = append(v.wrong, fmt.Sprintf(format, args...))
}

func (v *verdict) Fatalf(format string, args ...any) { v.Errorf(format, args...) }

// An agent does with a prompt what the test says.
type agent struct {
	host.Agent
	submit func(s host.Sink) error
}

func (a agent) Submit(_ context.Context, _ adapter.Prompt, s host.Sink) error { return a.submit(s) }

// TestWrongAgents are found out.
func TestWrongAgents(t *testing.T) {
	text, end, refused := host.Text{Text: "x"}, host.Finished{Outcome: host.Success}, errors.New("refused")
	for _, tt := range []struct {
		name   string
		submit func(s host.Sink) error
		want   string
	}{
		{"right", func(s host.Sink) error { s.Emit(host.Native{}, text); s.Finish(host.Native{}, end); return nil }, ""},
		{"right to refuse", func(host.Sink) error { return refused }, ""},
		{"no end", func(s host.Sink) error { s.Emit(host.Native{}, text); return nil }, "got 0 ends and 0 emissions after them"},
		{"two ends", func(s host.Sink) error { s.Finish(host.Native{}, end); s.Finish(host.Native{}, end); return nil }, "got 2 ends and 0 emissions after them"},
		{"late", func(s host.Sink) error { s.Finish(host.Native{}, end); s.Emit(host.Native{}, text); return nil }, "got 1 ends and 1 emissions after them"},
		{"refused and said", func(s host.Sink) error { s.Emit(host.Native{}, text); return refused }, "got 0 ends and 1 emissions after refused"},
		{"refused and ended", func(s host.Sink) error { s.Finish(host.Native{}, end); return refused }, "got 1 ends and 0 emissions after refused"},
	} {
		p := hosttest.Submit(t.Context(), agent{submit: tt.submit}, adapter.Prompt{})
		v := &verdict{TB: t}
		p.Check(v, 7)
		if all := strings.Join(v.wrong, ", "); !strings.Contains(all, tt.want) || (tt.want == "") != (all == "") {
			t.Errorf("%s: got %q, want %q", tt.name, all, tt.want)
		}
		if len(p.Sink.Ends()) > 0 {
			v := &verdict{TB: t}
			p.Sink.End(v)
			if wrong := len(p.Sink.Ends()) != 1 || p.Sink.Late() != 0; wrong != (len(v.wrong) > 0) {
				t.Errorf("%s: got %q of its end, want that it is wrong: %v", tt.name, v.wrong, wrong)
			}
		}
	}
}

func TestDesk(t *testing.T) {
	d := hosttest.Desk{Dir: t.TempDir()}
	if list, err := hosttest.Notes[string](d, "notes"); len(list) != 0 || err != nil {
		t.Errorf("got %q, %v, want nothing", list, err)
	}
	d.Note("notes", "a\nb")
	d.Note("notes", "c")
	if list, err := hosttest.Notes[string](d, "notes"); !slices.Equal(list, []string{"a\nb", "c"}) || err != nil {
		t.Errorf("got %q, %v, want both", list, err)
	}
	if list, err := hosttest.Notes[int](d, "notes"); err == nil {
		t.Errorf("got %v, want an error of another kind of value", list)
	}
	h := d.Harness(nil, func() ([]string, error) { return []string{"x"}, nil })
	begun, err := h.Hang()
	if err := errors.Join(err, h.Refuse()); err != nil || !d.Is("refuse") || !d.Is("hang") || begun() {
		t.Errorf("got %v, want both files, and nothing begun", err)
	}
	d.Note("begun", "x")
	if err := h.Restore(); err != nil || d.Is("refuse") || !begun() {
		t.Errorf("got %v, want that nothing is refused, and something begun", err)
	}
	if got, err := h.Received(); err != nil || len(got) != 1 || got[0].Text != "x" {
		t.Errorf("got %v, %v, want the text", got, err)
	}
}

func TestWire(t *testing.T) {
	w, peer := hosttest.NewWire(t, func(m hosttest.Message) bool { return m.Method != "noise" })
	go func() {
		_, _ = peer.Write([]byte(`{"method":"noise"}` + "\n" + `{"id":1,"method":"m","params":{}}` + "\n"))
	}()
	if m := w.Expect("m"); string(m.ID) != "1" || string(m.Params) != "{}" {
		t.Errorf("got %s %s, want the request", m.ID, m.Params)
	}
	said := make(chan string, 1)
	go func() {
		b := make([]byte, 100)
		n, _ := peer.Read(b)
		said <- string(b[:n])
	}()
	w.Say("{\n}")
	if got := hosttest.Receive(t, "what was said", said); got != "{ }\n" {
		t.Errorf("got %q, want it on one line", got)
	}
	peer.Close()
	if m, open := <-w.In; open {
		t.Errorf("got %v, want the end", m)
	}
}
