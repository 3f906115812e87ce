package turn_test

import (
	"context"

	"github.com/docket-go/docket/timeline/turn"
	"pgregory.net/rapid"
)

// done draws a finished turn whose capability somebody still has.
func (m *model) done(rt *rapid.T) *told {
	var all []*told
	for _, t := range m.turns {
		if t.finished != nil {
			all = append(all, t)
		}
	}
	if len(all) == 0 {
		rt.Skip("no turn is finished")
	}
	return rapid.SampledFrom(all).Draw(rt, "old turn")
}

func (m *model) emitLate(rt *rapid.T) {
	old := m.done(rt)
	n, p := m.emission(rt, old.broker)
	_, err := old.turn.Emit(rt.Context(), n, p)
	m.refused(rt, "late emission", err, turn.ErrFinished)
}

var outcomes = []turn.Outcome{turn.Success, turn.Failure, turn.Cancelled, turn.Interrupted}

func (m *model) terminal(rt *rapid.T) turn.Finished {
	return turn.Finished{Outcome: rapid.SampledFrom(outcomes).Draw(rt, "outcome"), Code: rapid.SampledFrom([]string{"", turn.CodeTimeout}).Draw(rt, "code")}
}

func (m *model) finish(rt *rapid.T) {
	a, f := m.active(rt), m.terminal(rt)
	m.finished(rt, a, f, func() (turn.Event, error) { return a.turn.Finish(rt.Context(), none, f) })
}

func (m *model) exit(rt *rapid.T) {
	a, f := m.active(rt), m.terminal(rt)
	m.finished(rt, a, f, func() (turn.Event, error) { return a.turn.End(rt.Context(), none, f) })
}

func (m *model) submitFails(rt *rapid.T) {
	a := m.active(rt)
	f := turn.Finished{Outcome: turn.Failure, Code: turn.CodeSubmitFailed, Diagnostic: "x"}
	m.finished(rt, a, f, func() (turn.Event, error) { return a.turn.SubmitFailed(rt.Context(), "x") })
}

// finished ends an open turn.
func (m *model) finished(rt *rapid.T, a *told, f turn.Finished, end func() (turn.Event, error)) {
	m.stuck = rapid.Bool().Draw(rt, "barrier is stuck")
	e, err := end()
	switch {
	case m.faulted:
		m.refused(rt, "finish", err, nil)
		return
	case m.stuck:
		m.refused(rt, "finish", err, turn.ErrBarrier)
	case err != nil:
		rt.Fatal(err)
	}
	if e.Payload != f {
		rt.Fatalf("got %+v, want %+v", e.Payload, f)
	}
	m.note(rt, e)
	a.finished = &e
	if m.stuck {
		m.due = a.number
	}
}

// finishAgain is idempotent for the same outcome, refused for another, and returns
// what stands to who only ends the turn.
func (m *model) finishAgain(rt *rapid.T) {
	old, f := m.done(rt), m.terminal(rt)
	m.stuck = false
	i := rapid.IntRange(0, 1).Draw(rt, "finish or end")
	call := []func(context.Context, turn.Native, turn.Finished) (turn.Event, error){old.turn.Finish, old.turn.End}[i]
	e, err := call(rt.Context(), none, f)
	stands := old.finished.Payload.(turn.Finished)
	if i == 0 && f.Outcome != stands.Outcome {
		m.refused(rt, "conflict", err, turn.ErrTerminalConflict)
		return
	}
	m.refused(rt, "again", err, nil)
	if m.faulted {
		return
	}
	if e.Seq != old.finished.Seq || e.Payload != stands || e.Next != old.finished.Next {
		rt.Fatalf("got %+v, want the original %+v", e, *old.finished)
	}
	if m.due == old.number {
		m.completed()
	}
}
