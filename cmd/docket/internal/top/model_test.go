package top_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/cmd/docket/internal/screen"
	"github.com/docket-go/docket/cmd/docket/internal/top"
)

// The second row of the team is worker-3, which has an unconfirmed message.
func TestKeysAsk(t *testing.T) {
	const id = "worker-3"
	list := top.Command{Act: top.List, Session: id}
	read := top.Command{Act: top.Read, Session: id}
	for _, tt := range []struct {
		name, keys string
		want       []top.Command
	}{
		{"read", "j<enter>", []top.Command{read, list}},
		{"pending", "jp", []top.Command{list}},
		{"pending out of a conversation", "j<enter>p", []top.Command{read, list, list}},
		{"back out of a conversation", "j<enter>q", []top.Command{read, list, {Act: top.Close, Session: id}}},
		{"retry", "jr", []top.Command{{Act: top.Retry, Session: id}}},
		{"retry one at a time", "jrr", []top.Command{{Act: top.Retry, Session: id}}},
		{"retry out of pending", "jpr", []top.Command{list, {Act: top.Retry, Session: id}}},
		{"quit", "q", []top.Command{{Act: top.Quit}}},
		{"quit from anywhere", "?<ctrl+c>", []top.Command{{Act: top.Quit}}},
		{"help and back", "?qq", []top.Command{{Act: top.Quit}}},
		{"a filter is no command", "/rxq<esc>", nil},
		{"keys that are bound to nothing", "zZ<alt+x><left>", nil},
	} {
		if got := shown(80, 24).Press(tt.keys); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// pending is a model that shows what worker-3 is owed.
func pending() *top.Model {
	m := shown(80, 24)
	m.Press("jp")
	m.PutDebts(debts("worker-3"))
	return m
}

func TestDecisions(t *testing.T) {
	command := func(act top.Act, mid string) []top.Command {
		return []top.Command{{Act: act, Session: "worker-3", MID: mid}}
	}
	for _, tt := range []struct {
		name, keys string
		want       []top.Command
	}{
		{"revoke", "xy", command(top.Revoke, "m1")},
		{"revoke the second", "jxy", command(top.Revoke, "m2")},
		{"not after all", "xn", nil},
		{"not with escape", "x<esc>y", nil},
		{"no other key is a yes", "x<enter> jrx", nil},
		{"confirm", "cy", command(top.Confirm, "m1")},
		{"absent", "ay", command(top.Absent, "m1")},
		{"nothing to confirm", "jcy", nil}, // m2 was not handed over
		{"nothing to call absent", "jay", nil},
	} {
		if got := pending().Press(tt.keys); !slices.Equal(got, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

// A question is about the message that it shows, whatever comes meanwhile.
func TestQuestionStaysOnItsMessage(t *testing.T) {
	m := pending()
	m.Press("x")
	if frame := text(m.Draw()); !strings.Contains(frame, "tag the release") || !strings.Contains(frame, "take it back?") {
		t.Fatalf("the text is not shown:\n%s", frame)
	}
	changed := debts("worker-3")
	changed.List = changed.List[1:]
	m.PutDebts(changed)
	m.Put(top.Batch{Rows: []top.Row{{ID: "another", Unconfirmed: true, Owed: 1}}})
	want := []top.Command{{Act: top.Revoke, Session: "worker-3", MID: "m1"}}
	if got := m.Press("y"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The selection stays on its message when the debts are read again.
func TestSelectedDebtStays(t *testing.T) {
	m := pending()
	m.Press("j")
	m.PutDebts(debts("worker-3"))
	m.Press("x")
	if _, c := m.Asking(); c.MID != "m2" {
		t.Errorf("got %v", c)
	}
	m.Press("n")
	gone := debts("worker-3")
	gone.List = gone.List[:1]
	m.PutDebts(gone)
	m.Press("x")
	if _, c := m.Asking(); c.MID != "m1" {
		t.Errorf("its message is gone, and the question is %v", c)
	}
}

func TestPasteIsNoCommand(t *testing.T) {
	m := pending()
	m.Press("x")
	if got := m.Key(screen.Key{Name: "paste", Text: "y"}); got != nil {
		t.Errorf("a paste answered the question: %v", got)
	}
	m = shown(80, 24)
	m.Press("/")
	m.Key(screen.Key{Name: "paste", Text: "worker\nq"})
	if got := m.Order(); len(got) != 3 {
		t.Errorf("the filter has kept %v", got)
	}
}

// In the list, x, c and a are about the oldest message, whose text is read first.
func TestDecisionsFromTheList(t *testing.T) {
	for keys, want := range map[string]top.Act{"jx": top.Revoke, "jc": top.Confirm, "ja": top.Absent} {
		m := shown(80, 24)
		m.Press(keys)
		if ask, _ := m.Asking(); ask != "" {
			t.Errorf("%s: it asks before the text is known", keys)
		}
		m.PutDebts(debts("worker-3"))
		if _, c := m.Asking(); c.Act != want || c.MID != "m1" {
			t.Errorf("%s: got %v", keys, c)
		}
	}
}

// What is owed may be read after somebody went on: then nothing is asked.
func TestLateDebtsAskNothing(t *testing.T) {
	m := shown(80, 24)
	m.Press("jxq")
	m.PutDebts(debts("worker-3"))
	if ask, _ := m.Asking(); ask != "" {
		t.Errorf("it asks: %s", ask)
	}
}

func TestChangesAreReadAgain(t *testing.T) {
	m := pending()
	want := []top.Command{{Act: top.List, Session: "worker-3"}}
	if got := m.Put(top.Batch{Rows: []top.Row{{ID: "worker-3"}}}); !slices.Equal(got, want) {
		t.Errorf("a change of the row: got %v, want %v", got, want)
	}
	if got := m.Put(top.Batch{Rows: []top.Row{{ID: "worker-2"}}}); got != nil {
		t.Errorf("a change of another row: got %v", got)
	}
	m.Press("r")
	if got := m.Done(top.Command{Act: top.Retry, Session: "worker-3"}, "1 delivered", false); !slices.Equal(got, want) {
		t.Errorf("a pass that ended: got %v, want %v", got, want)
	}
	if frame := text(m.Draw()); !strings.Contains(frame, "worker-3: 1 delivered") {
		t.Errorf("what came of it is not shown:\n%s", frame)
	}
	if got := m.Press("r"); len(got) != 1 {
		t.Errorf("the session is still busy: %v", got)
	}
}

func TestClosedSessionIsLeft(t *testing.T) {
	for _, keys := range []string{"j<enter>", "jp", "j<enter>p", "j<enter>?"} {
		m := shown(80, 24)
		m.Press(keys)
		m.Put(top.Batch{Gone: []string{"worker-3"}})
		if frame := text(m.Draw()); !strings.Contains(frame, "worker-3 was closed") || !strings.Contains(frame, "SESSION") {
			t.Errorf("%s: got\n%s", keys, frame)
		}
	}
}

func TestFilterWithEscape(t *testing.T) {
	m := shown(80, 24)
	all := len(m.Order())
	m.Press("/docs")
	if got := m.Order(); !slices.Equal(got, []string{"worker-2"}) {
		t.Errorf("got %v while it is typed", got)
	}
	m.Press("<backspace><esc>")
	if got := len(m.Order()); got != all {
		t.Errorf("escape kept %d of %d", got, all)
	}
	m.Press("/docs<enter><esc>")
	if got := len(m.Order()); got != all {
		t.Errorf("escape in the list kept %d of %d", got, all)
	}
}

// All that the footer and the help name does something, and the help names all.
func TestHelpNamesEveryKey(t *testing.T) {
	m := shown(80, 100)
	m.Press("?")
	help := text(m.Draw())
	for _, want := range []string{"enter", "x ", "c ", "a ", "r ", "p ", "/", "n ", "N ", "?", "q", "somebody has to decide"} {
		if !strings.Contains(help, want) {
			t.Errorf("no %q in\n%s", want, help)
		}
	}
}
