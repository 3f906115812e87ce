package turn_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/timeline/turn"
)

// The log, never a provider, assigns the identity of a turn.
func TestLogAssignsTurnIdentity(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir)
	claims := turn.Native{Provider: "acp", Session: "n-s", Turn: "1-theirs", Item: "n-i", Broker: 7}
	first := start(t, w, turn.Started{MID: "m1", Token: "tok"})
	e, err := first.Emit(t.Context(), claims, turn.Text{Text: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	if e.Turn != first.ID() || e.Seq != 1 || !e.Time.Equal(now) || e.Native != claims {
		t.Errorf("got %+v, want it on turn %s, with the claims as provenance", e, first.ID())
	}
	finish(t, first, success)
	second := start(t, w, turn.Started{MID: "m1", Token: "tok"}) // all the same, and another turn
	if second.ID() == first.ID() || first.Number() != 1 || second.Number() != 2 {
		t.Errorf("got turns %s and %s, want two", first.ID(), second.ID())
	}
	ids := map[string]bool{}
	for _, e := range history(t, dir) {
		ids[e.Turn] = true
	}
	if len(ids) != 2 || ids[claims.Turn] {
		t.Errorf("got turns %v, want the log's two", ids)
	}
}

// A dispatch that fails is one observable terminal, error/submit_failed, also when
// those who see it fail are many.
func TestSubmitFailureIsOneTerminal(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir)
	tn := start(t, w, turn.Started{})
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if _, err := tn.SubmitFailed(t.Context(), "no such model"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	wantLog(t, dir, "1:turn-started", "1:turn-finished error/submit_failed")
	start(t, w, turn.Started{})
}

// If the producer's terminal came before the dispatch said that it failed, it wins.
func TestProducerTerminalBeatsSubmitFailure(t *testing.T) {
	dir := newDir(t)
	tn := start(t, open(t, dir), turn.Started{})
	first := finish(t, tn, success)
	got, err := tn.SubmitFailed(t.Context(), "connection lost")
	if err != nil || got.Seq != first.Seq || got.Payload != first.Payload {
		t.Errorf("got %+v, %v, want the producer's %+v", got, err, first)
	}
	wantLog(t, dir, "1:turn-started", "1:turn-finished success")
}

// What is no value is refused, and the turn goes on.
func TestNoEmissionIsRefused(t *testing.T) {
	tn := start(t, open(t, newDir(t)), turn.Started{})
	if _, err := tn.Emit(t.Context(), turn.Native{}, nil); !errors.Is(err, turn.ErrEvent) {
		t.Errorf("got %v, want ErrEvent", err)
	}
	if _, err := tn.Emit(t.Context(), turn.Native{}, turn.Text{Text: "on"}); err != nil {
		t.Error(err)
	}
}

// A result precedes the terminal and does not close the gate.
func TestResultObservedDoesNotFinish(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir)
	tn := start(t, w, turn.Started{MID: "m1"})
	emit(t, tn, turn.ResultObserved{Text: "42"})
	var active *turn.ActiveError
	if _, err := w.Start(t.Context(), turn.Started{}); !errors.As(err, &active) || !errors.Is(err, turn.ErrActive) {
		t.Fatalf("got %v, want the turn to be open still", err)
	}
	if active.Turn != tn.ID() || active.MID != "m1" || active.Session != "s1" {
		t.Errorf("got %+v, want it to name the turn", active)
	}
	if err := w.Ready(t.Context()); !errors.Is(err, turn.ErrActive) {
		t.Errorf("got %v, want %v", err, turn.ErrActive)
	}
	finish(t, tn, success)
	wantLog(t, dir, "1:turn-started", "1:result-observed", "1:turn-finished success")
}

// Retryable diagnostics and failed tools do not finish a turn.
func TestDiagnosticsAndToolFailuresDoNotFinish(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir)
	tn := start(t, w, turn.Started{})
	for _, p := range []turn.Emission{
		turn.Diagnostic{Severity: turn.SeverityError, Code: "rate_limited", Text: "retry in 3 s"},
		turn.Tool{ID: "c1", Title: "run", Status: turn.ToolFailed},
		turn.Permission{ID: "p1", State: turn.PermissionDenied},
		turn.Usage{Total: 7},
		turn.Thought{Text: "again"},
	} {
		emit(t, tn, p)
		if _, ok := w.Active(); !ok {
			t.Errorf("%T finished the turn", p)
		}
	}
	if _, done := tn.Finished(); done {
		t.Error("the turn is finished")
	}
	if _, err := w.Publish(t.Context(), none, turn.State{Name: "mode", Value: "error"}); err != nil {
		t.Error(err)
	}
	finish(t, tn, success)
}

// The same finish again is the original event; another outcome is refused.
func TestDuplicateAndConflictingFinish(t *testing.T) {
	dir := newDir(t)
	tn := start(t, open(t, dir), turn.Started{})
	first := finish(t, tn, turn.Finished{Outcome: turn.Failure, Code: turn.CodeTimeout, Diagnostic: "60 s"})
	for _, again := range []turn.Finished{
		{Outcome: turn.Failure, Code: turn.CodeTimeout, Diagnostic: "60 s"},
		{Outcome: turn.Failure, Code: turn.CodeAgentExited}, // the outcome decides
	} {
		if got := finish(t, tn, again); got.Seq != first.Seq || got.Payload != first.Payload || got.Next != first.Next {
			t.Errorf("got %+v, want the original %+v", got, first)
		}
	}
	for _, other := range []turn.Outcome{turn.Success, turn.Cancelled, turn.Interrupted} {
		_, err := tn.Finish(t.Context(), none, turn.Finished{Outcome: other})
		var conflict *turn.TerminalConflictError
		if !errors.As(err, &conflict) || !errors.Is(err, turn.ErrTerminalConflict) {
			t.Fatalf("%s: got %v, want %v", other, err, turn.ErrTerminalConflict)
		}
		if conflict.First.Seq != first.Seq || conflict.Refused.Outcome != other {
			t.Errorf("got %+v, want it to name both", conflict)
		}
	}
	if got, _ := tn.Finished(); got.Payload != first.Payload {
		t.Errorf("got %+v, want the first to stand", got)
	}
	wantLog(t, dir, "1:turn-started", "1:turn-finished error/timeout")
}

// What comes late on an old turn is refused, and never given to the next.
func TestLateEmissionIsRefusedAndNeverRebound(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir)
	old := start(t, w, turn.Started{})
	finish(t, old, success)
	for range 2 { // before and beside the next turn
		if _, err := old.Emit(t.Context(), turn.Native{Broker: 99}, turn.Text{Text: "late"}); !errors.Is(err, turn.ErrFinished) {
			t.Errorf("got %v, want %v", err, turn.ErrFinished)
		}
		if _, ok := w.Active(); !ok {
			start(t, w, turn.Started{})
		}
	}
	next, _ := w.Active()
	if next.Broker() != 0 {
		t.Errorf("the late emission moved the next turn to %d", next.Broker())
	}
	if _, err := old.Finish(t.Context(), none, turn.Finished{Outcome: turn.Cancelled}); !errors.Is(err, turn.ErrTerminalConflict) {
		t.Errorf("got %v, want %v", err, turn.ErrTerminalConflict)
	}
	finish(t, old, success)
	if _, ok := w.Active(); !ok {
		t.Error("the old turn's finish ended the new turn")
	}
	wantLog(t, dir, "1:turn-started", "1:turn-finished success", "2:turn-started")
}

// Watchdog, interrupt and process exit, all at once with the producer's own terminal,
// become one event.
func TestTerminalPathsConverge(t *testing.T) {
	for round := range 20 {
		dir := newDir(t)
		w := open(t, dir)
		tn := start(t, w, turn.Started{})
		var all sync.WaitGroup
		results := make([]turn.Event, 4)
		for i, end := range []func() (turn.Event, error){
			func() (turn.Event, error) { return tn.Finish(t.Context(), turn.Native{Broker: 5}, success) },
			func() (turn.Event, error) {
				return tn.End(t.Context(), none, turn.Finished{Outcome: turn.Failure, Code: turn.CodeTimeout})
			},
			func() (turn.Event, error) {
				return tn.End(t.Context(), none, turn.Finished{Outcome: turn.Cancelled})
			},
			func() (turn.Event, error) {
				return tn.End(t.Context(), none, turn.Finished{Outcome: turn.Failure, Code: turn.CodeAgentExited})
			},
		} {
			all.Go(func() {
				e, err := end()
				if err != nil && !errors.Is(err, turn.ErrTerminalConflict) {
					t.Error(err)
				}
				results[i] = e
			})
		}
		all.Wait()
		events := history(t, dir)
		if len(events) != 2 {
			t.Fatalf("round %d: got %q, want one terminal", round, brief(events))
		}
		for i, e := range results {
			if i > 0 && e.Payload != events[1].Payload {
				t.Fatalf("round %d: path %d got %+v, want the one that stands", round, i, e)
			}
		}
	}
}

// What a broker replays from before the greatest committed sequence is not recorded
// twice; gaps, which ignored frames leave, are no gaps of the log.
func TestReplayedEmissionsAreKnown(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir)
	tn := start(t, w, turn.Started{Token: "tok"})
	for _, tt := range []struct {
		broker uint64
		want   error
	}{{1, nil}, {1, turn.ErrReplayed}, {4, nil}, {3, turn.ErrReplayed}, {0, nil}, {4, turn.ErrReplayed}, {5, nil}} {
		_, err := tn.Emit(t.Context(), turn.Native{Broker: tt.broker}, turn.Text{Text: fmt.Sprint(tt.broker)})
		if !errors.Is(err, tt.want) {
			t.Errorf("broker %d: got %v, want %v", tt.broker, err, tt.want)
		}
	}
	closeWriter(t, w)
	again, ok := open(t, dir).Active()
	if !ok || again.Broker() != 5 || again.Token() != "tok" || again.ID() != tn.ID() {
		t.Fatalf("got %+v, want the turn at broker sequence 5", again)
	}
	if _, err := again.Finish(t.Context(), turn.Native{Broker: 5}, success); !errors.Is(err, turn.ErrReplayed) {
		t.Errorf("got %v, want %v", err, turn.ErrReplayed)
	}
	if _, err := again.Finish(t.Context(), turn.Native{Broker: 6}, success); err != nil {
		t.Error(err)
	}
	var texts []string
	for _, e := range history(t, dir) {
		if p, ok := e.Payload.(turn.Text); ok {
			texts = append(texts, p.Text)
		}
	}
	if got := strings.Join(texts, " "); got != "1 4 0 5" {
		t.Errorf("got %q, want each once", got)
	}
}

// A second writer is refused, in this process and in another; see process_test.go.
func TestOneWriterPerSession(t *testing.T) {
	dir := newDir(t)
	w := open(t, dir)
	_, err := turn.Open(t.Context(), dir, turn.Options{Session: "worker-1"})
	var second *turn.WriterError
	if !errors.As(err, &second) || !errors.Is(err, turn.ErrWriter) || second.Session != "worker-1" || second.Dir != dir {
		t.Fatalf("got %v, want %v", err, turn.ErrWriter)
	}
	start(t, w, turn.Started{})
	closeWriter(t, w)
	next, err := turn.Open(context.Background(), dir, turn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	closeWriter(t, next)
}
