//go:build linux || darwin

package turns_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/turn"
)

// Each of the three processes is killed at every step that it reaches while one message
// is sent, taken and answered; what died is started again, and a second message
// follows. Nothing is ever handed over twice, and nothing that was recorded is lost or
// doubled.
func TestKilledAtEveryStep(t *testing.T) {
	for _, victim := range []string{"host", "record", "send"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			for at := 1; ; at++ {
				died := false
				ok := t.Run(fmt.Sprint(at), func(t *testing.T) { died = crash(t, victim, at) })
				if !ok || !died {
					if at < 5 {
						t.Errorf("got %s through %d steps, want more to die at", victim, at)
					}
					return
				}
			}
		})
	}
}

// crash runs the scenario once and reports whether the victim died in it.
func crash(t *testing.T, victim string, at int) bool {
	w := newWorld(t)
	judge := filepath.Join(w.root, "judge")
	start := func(role string) *process {
		j := job{Role: role, Root: w.root, Judge: judge, Text: "one"}
		if role == victim {
			j.DieAt = at
		}
		return run(t, j)
	}
	keeper, recorder := start("host"), start("record")
	ready := func() bool { s, _ := host.NewClient(w.dir).Probe(t.Context()); return s == adapter.Idle }
	never := func() string { return "got no quiet end of the scenario, want one" }
	eventually(t, func() bool { return ready() || keeper.killed() || recorder.killed() }, never)
	sender := start("send")
	eventually(t, sender.over, never)
	eventually(t, func() bool { return keeper.killed() || recorder.killed() || ready() }, never)
	died := keeper.killed() || recorder.killed() || sender.killed()
	if !died {
		// The victim may have steps left that it reaches when it ends.
		map[string]*process{"host": keeper, "record": recorder, "send": sender}[victim].stop(t)
		died = keeper.killed() || recorder.killed()
	}
	victim2 := victim // what died is started again, to live
	victim = ""
	if keeper.over() {
		keeper = start("host")
	}
	if recorder.over() {
		recorder = start("record")
	}
	w.send("two")
	held := settle(t, w, judge)
	if held && victim2 != "host" {
		t.Errorf("got a message in doubt, want its fate known while the host lives")
	}
	eventually(t, ready, never)
	recorder.stop(t)
	keeper.stop(t)
	check(t, w, judge, victim2)
	return died
}

// settle makes passes until nothing is owed, and decides like a person who looks at
// the agent where docket cannot tell.
func settle(t *testing.T, w *world, judge string) (held bool) {
	t.Helper()
	var last error
	eventually(t, func() bool {
		if s, _ := host.NewClient(w.dir).Probe(t.Context()); s == adapter.Blocked || s == adapter.Gone {
			return false // nobody can look yet
		}
		last = w.pass(t.Context())
		var p *dispatch.PassError
		if errors.As(last, &p) && p.Answer == adapter.Unconfirmed {
			held = true
			prompts, _ := judged(t, judge)
			_, err := w.Confirm(t.Context(), "s1", p.MID, !slices.Contains(prompts, p.MID))
			if err != nil && !errors.Is(err, dispatch.ErrInFlight) { // the host makes passes, too
				t.Error(err)
			}
		}
		owed, err := w.Pending(t.Context(), "s1")
		return err == nil && len(owed) == 0
	}, func() string { return fmt.Sprintf("got %v to the end, want everything handed over", last) })
	return held
}

// judged returns the prompts that reached the program, and the pids of its lives.
func judged(t *testing.T, judge string) (mids, pids []string) {
	t.Helper()
	data, err := os.ReadFile(judge)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.FieldsFuncSeq(string(data), func(r rune) bool { return r == '\n' }) {
		if pid, ok := strings.CutPrefix(line, "pid "); ok {
			pids = append(pids, pid)
		} else {
			mids = append(mids, line)
		}
	}
	return mids, pids
}

// check holds log, agent and queue against each other.
func check(t *testing.T, w *world, judge, victim string) {
	t.Helper()
	prompts, _ := judged(t, judge)
	for i, mid := range prompts {
		if slices.Contains(prompts[:i], mid) {
			t.Errorf("got message %s at the agent twice, want it once: %q", mid, prompts)
		}
	}
	sent := 0
	for e, err := range w.Timeline().All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == "sent" {
			sent++
			if !slices.Contains(prompts, e.MID) {
				t.Errorf("got message %s accepted and settled, want it at the agent: %q", e.MID, prompts)
			}
		}
	}
	if sent != len(prompts) {
		t.Errorf("got %d messages accepted and %d at the agent, want the same", sent, len(prompts))
	}
	whole := map[string]bool{}
	for _, events := range turnsOf(t, w) {
		mid, complete := checkTurn(t, events)
		whole[mid] = whole[mid] || complete
	}
	if victim != "host" {
		for _, mid := range prompts {
			if !whole[mid] {
				t.Errorf("got no whole turn of message %s, want one: its host lived", mid)
			}
		}
	}
}

// turnsOf returns the events of the log by turn.
func turnsOf(t *testing.T, w *world) (all [][]turn.Event) {
	t.Helper()
	for _, e := range w.events() {
		if _, first := e.Payload.(turn.Started); first {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], e)
	}
	return all
}

// checkTurn checks that a turn has one end, and the emissions of its broker without a
// gap or a repeat.
func checkTurn(t *testing.T, events []turn.Event) (mid string, whole bool) {
	t.Helper()
	mid = events[0].Payload.(turn.Started).MID
	var said []string
	for i, e := range events {
		said = append(said, short(e))
		_, over := e.Payload.(turn.Finished)
		if over != (i == len(events)-1) {
			t.Errorf("got turn %q, want one end, at the end", said)
		}
	}
	end := events[len(events)-1].Payload.(turn.Finished)
	number := events[0].TurnNumber()
	for i := range pieces {
		want := fmt.Sprintf("%d.%d text %d", number, i+1, i)
		if i+1 < len(said) && strings.Contains(said[i+1], " text ") && said[i+1] != want {
			t.Errorf("got turn %q, want %q as its event %d", said, want, i+1)
		}
	}
	if end.Outcome == turn.Success && len(said) != pieces+2 {
		t.Errorf("got turn %q, want %d pieces of text", said, pieces)
	}
	return mid, end.Outcome == turn.Success
}
