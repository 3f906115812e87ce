package turn_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/segment"
	"github.com/docket-go/docket/timeline/turn"
)

// TestMain lets the test binary be the other process: TURN_TEST_CHILD names what it
// does with the session directory in TURN_TEST_DIR.
func TestMain(m *testing.M) {
	if role := os.Getenv("TURN_TEST_CHILD"); role != "" {
		if err := children[role](context.Background(), os.Getenv("TURN_TEST_DIR")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var children = map[string]func(ctx context.Context, dir string) error{
	"hold": holdChild, "turns": turnsChild, "die": dieChild,
}

func child(role, dir string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, "TURN_TEST_CHILD="+role, "TURN_TEST_DIR="+dir)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// killSelf ends this process as kill -9 does.
func killSelf() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {} // until the signal is there
}

// holdChild starts a turn, says so, and holds it until stdin ends.
func holdChild(ctx context.Context, dir string) error {
	w, err := turn.Open(ctx, dir, turn.Options{})
	if err != nil {
		return err
	}
	t, err := w.Start(ctx, turn.Started{Token: "tok"})
	if err != nil {
		return err
	}
	if _, err := t.Emit(ctx, turn.Native{Broker: 3}, turn.Text{Text: "so far"}); err != nil {
		return err
	}
	fmt.Println(t.ID())
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// The one writer may be another process. When that is killed, the log is free at once,
// and its turn is found open, with what a surviving producer needs.
func TestWriterInAnotherProcess(t *testing.T) {
	dir := newDir(t)
	cmd := child("hold", dir)
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	id, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := turn.Open(t.Context(), dir, turn.Options{}); !errors.Is(err, turn.ErrWriter) {
		t.Errorf("got %v, want %v", err, turn.ErrWriter)
	}
	wantLog(t, dir, "1:turn-started", "1:text") // readers need no lock
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	w := open(t, dir)
	tn, ok := w.Active()
	if !ok || tn.ID() != strings.TrimSpace(id) || tn.Token() != "tok" || tn.Broker() != 3 {
		t.Fatalf("got %+v, want the killed writer's turn %s", tn, id)
	}
	finish(t, tn, gone)
	if e := finish(t, tn, gone); e.Seq != 2 {
		t.Errorf("got sequence %d, want the one terminal", e.Seq)
	}
}

// turnsChild goes on with the log and writes 20 turns. It notes in a file which turns
// it cleared, and says what was acknowledged.
func turnsChild(ctx context.Context, dir string) error {
	w, err := turn.Open(ctx, dir, turn.Options{SegmentBytes: 900, Barrier: func(_ context.Context, e turn.Event) error {
		return os.WriteFile(filepath.Join(dir, "cleared"), fmt.Append(nil, e.TurnNumber()), 0o600)
	}})
	if err != nil {
		return err
	}
	defer w.Close()
	if t, ok := w.Active(); ok {
		if _, err := t.Finish(ctx, turn.Native{}, gone); err != nil {
			return err
		}
		fmt.Println("restarted", t.Number())
	}
	turns := 20
	if n := os.Getenv("TURN_TEST_TURNS"); n != "" {
		fmt.Sscan(n, &turns)
	}
	for range turns {
		if err := oneTurn(ctx, w, dir, os.Stdout); err != nil {
			return err
		}
	}
	return nil
}

// oneTurn writes one turn and says what was acknowledged.
func oneTurn(ctx context.Context, w *turn.Writer, dir string, out io.Writer) error {
	t, err := w.Start(ctx, turn.Started{Token: "tok"})
	if err != nil {
		return err
	}
	if raw, _ := os.ReadFile(filepath.Join(dir, "cleared")); t.Number() > 1 && string(raw) != fmt.Sprint(t.Number()-1) {
		return fmt.Errorf("turn %d started after the barrier of turn %q", t.Number(), raw)
	}
	fmt.Fprintln(out, "started", t.Started().Seq)
	for i := range uint64(3) {
		e, err := t.Emit(ctx, turn.Native{Broker: i + 1}, turn.Text{Text: "some text"})
		if err != nil {
			return err
		}
		fmt.Fprintln(out, "text", e.Seq)
	}
	e, err := t.Finish(ctx, turn.Native{Broker: 4}, success)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "finished", e.Seq)
	return nil
}

// dieChild is turnsChild that kills itself at the step with a number.
func dieChild(ctx context.Context, dir string) error {
	var at, n int
	if _, err := fmt.Sscan(os.Getenv("TURN_TEST_DIE_AT"), &at); err != nil {
		return err
	}
	step.Hook(func(string) {
		if n++; n == at {
			killSelf()
		}
	})
	return turnsChild(ctx, dir)
}

// A writer dies at each of its steps, and others go on. What was acknowledged is there,
// what was not is there whole or not at all; a turn that was open gets one terminal and
// nothing else; and no turn starts before the barrier of the one before completed.
func TestWriterDiesAtEachStep(t *testing.T) {
	for at := 1; ; at++ {
		dir := newDir(t)
		cmd := child("die", dir, fmt.Sprintf("TURN_TEST_DIE_AT=%d", at), "TURN_TEST_TURNS=2")
		out, err := cmd.Output()
		checkAfterDeath(t, dir, at, string(out))
		if t.Failed() {
			return
		}
		if err == nil {
			if at < 30 {
				t.Errorf("got %d steps, want more", at)
			}
			return // it died nowhere: all steps are tried
		}
		if cmd.ProcessState.Exited() {
			t.Fatalf("step %d: the writer failed: %v", at, err)
		}
	}
}

// checkAfterDeath looks at what a death left, and goes on with it.
func checkAfterDeath(t *testing.T, dir string, at int, out string) {
	t.Helper()
	acked := strings.Count(out, "\n")
	before := brief(history(t, dir))
	if n := len(before); n < acked || n > acked+1 {
		t.Fatalf("step %d: %d events were acknowledged, the log has %d", at, acked, n)
	}
	one := []string{":turn-started", ":text", ":text", ":text", ":turn-finished success"}
	for i, word := range before {
		if want := fmt.Sprint(i/5+1) + one[i%5]; word != want {
			t.Fatalf("step %d: event %d is %q, want %q", at, i, word, want)
		}
	}
	w := open(t, dir, func(o *turn.Options) { o.Barrier = clearInto(dir) })
	want := before
	if tn, ok := w.Active(); ok != (len(before)%5 != 0) {
		t.Fatalf("step %d: got an open turn %v after %q", at, ok, before)
	} else if ok {
		if tn.Token() != "tok" || tn.Broker() != uint64(len(before)%5-1) {
			t.Errorf("step %d: got token %q and broker sequence %d after %q", at, tn.Token(), tn.Broker(), before)
		}
		finish(t, tn, gone)
		want = append(want, fmt.Sprintf("%d:turn-finished interrupted/runtime_restart", tn.Number()))
	}
	if err := oneTurn(t.Context(), w, dir, io.Discard); err != nil {
		t.Errorf("step %d: the next writer: %v", at, err)
	}
	closeWriter(t, w)
	got := brief(history(t, dir))
	if len(got) != len(want)+5 || !slices.Equal(got[:len(want)], want) {
		t.Fatalf("step %d: got\n%q, want\n%q and one more turn", at, got, want)
	}
	for f, err := range read(t, dir).Verify(t.Context()) {
		if err != nil || f.Severity == segment.Damage {
			t.Errorf("step %d: Verify: %+v, %v", at, f, err)
		}
	}
}

func clearInto(dir string) func(context.Context, turn.Event) error {
	return func(_ context.Context, e turn.Event) error {
		return os.WriteFile(filepath.Join(dir, "cleared"), fmt.Append(nil, e.TurnNumber()), 0o600)
	}
}

// Writers come one after the other and are killed in the middle, while followers in
// another process read on: each sees every event once, in order, with one mark.
func TestFollowersOutliveWriters(t *testing.T) {
	dir := newDir(t)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	const enough = 150
	seen := make(chan []turn.Event)
	for _, poll := range []time.Duration{0, -time.Millisecond} {
		l := readEvery(t, dir, poll)
		updates := l.Follow(ctx, cursor(t, l.Start))
		go func() {
			var events []turn.Event
			marks := 0
			for u, err := range updates {
				if err != nil {
					t.Error(err)
					break
				}
				if u.CaughtUp {
					marks++
				} else if events = append(events, u.Event); len(events) == enough {
					break
				}
			}
			if marks != 1 {
				t.Errorf("got %d marks, want one", marks)
			}
			seen <- events
		}()
	}
	total := 0
	for round := 1; total < enough; round++ {
		cmd := child("die", dir, fmt.Sprintf("TURN_TEST_DIE_AT=%d", 60+17*round))
		if out, err := cmd.Output(); err != nil && cmd.ProcessState.Exited() {
			t.Fatalf("round %d: %v: %s", round, err, out)
		}
		total = len(history(t, dir))
	}
	want := brief(history(t, dir))[:enough]
	for range 2 {
		events := <-seen
		if got := brief(events); !slices.Equal(got, want) {
			t.Errorf("a follower saw\n%q, want\n%q", got, want)
		}
		for i, e := range events {
			if e.Seq != uint64(i) {
				t.Errorf("event %d has sequence %d", i, e.Seq)
			}
		}
	}
}
