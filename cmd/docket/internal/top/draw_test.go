package top_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docket-go/docket/cmd/docket/internal/top"
)

var update = flag.Bool("update", false, "write what is drawn into testdata")

// The screens as they look: compare testdata, which go test -update writes.
func TestScreens(t *testing.T) {
	type size struct{ width, height int }
	sizes := []size{{40, 20}, {80, 24}, {200, 24}}
	for _, tt := range []struct {
		name string
		do   func(m *top.Model)
	}{
		{"list", func(m *top.Model) { m.Press("jj") }},
		{"filter", func(m *top.Model) { m.Press("/work") }},
		{"conversation", func(m *top.Model) {
			m.Press("j<enter>")
			m.PutDebts(debts("worker-3"))
			m.PutPage(talk("worker-3"))
			m.Press("/Which<enter>")
		}},
		{"pending", func(m *top.Model) {
			m.Press("jp")
			m.PutDebts(debts("worker-3"))
		}},
		{"revoke", func(m *top.Model) {
			m.Press("jx")
			m.PutDebts(debts("worker-3"))
		}},
		{"busy", func(m *top.Model) { m.Press("jr") }},
		{"refused", func(m *top.Model) {
			m.Press("j")
			m.Done(top.Command{Act: top.Retry, Session: "worker-3"}, "0 delivered, 2 owed: signal: killed: see whether the agent has it, "+
				"then docket confirm worker-3 m1, or docket drain worker-3 --redeliver m1", true)
		}},
		{"help", func(m *top.Model) { m.Press("?") }},
	} {
		for _, s := range sizes {
			t.Run(fmt.Sprintf("%s-%d", tt.name, s.width), func(t *testing.T) {
				m := shown(s.width, s.height)
				tt.do(m)
				f := m.Draw()
				fits(t, f, s.width, s.height)
				compare(t, text(f))
			})
		}
	}
}

// compare compares with the file of the test.
func compare(t *testing.T, got string) {
	t.Helper()
	name := filepath.Join("testdata", filepath.Base(t.Name())+".txt")
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant, as in %s,\n%s", got, name, want)
	}
}

func TestTable(t *testing.T) {
	rows := team()
	got := ""
	for _, line := range top.Table(rows, noon) {
		got += line + "\n"
	}
	compare(t, got)
}

func TestEmptyStore(t *testing.T) {
	for _, tt := range []struct {
		name  string
		batch top.Batch
		keys  string
		want  string
	}{
		{"nothing there", top.Batch{}, "", "no sessions yet: docket new ID makes one"},
		{"nothing read", top.Batch{Left: 3}, "", "reading the store ..."},
		{"nothing fits the filter", top.Batch{Rows: team()}, "/nonsense<enter>", "no session holds this text"},
	} {
		m := top.New("/store", 80, 24, noon)
		m.Put(tt.batch)
		m.Press(tt.keys)
		if f := m.Draw(); f[3].Text() != tt.want {
			t.Errorf("%s: got\n%s", tt.name, text(f))
		}
	}
}

func TestNoSessionFits(t *testing.T) {
	m := top.New("/store", 80, 24, noon)
	m.Only("zzz-* or q*")
	m.Put(top.Batch{})
	if got, want := m.Draw()[3].Text(), "no session fits zzz-* or q* yet"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAge(t *testing.T) {
	for _, tt := range []struct{ of, want string }{
		{"-3s", "0s"}, {"59.9s", "59s"}, {"60s", "1m"}, {"59m59s", "59m"}, {"1h5m", "1h05m"}, {"47h59m", "47h59m"}, {"48h", "2d"},
	} {
		if got := top.Age(duration(t, tt.of)); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.of, got, tt.want)
		}
	}
}

func duration(t *testing.T, text string) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}
