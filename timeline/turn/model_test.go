package turn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/turn"
	"pgregory.net/rapid"
)

// TestTurnsAgainstAModel drives one log through producers, late emissions, duplicate
// and conflicting terminals, submit failures, replays, failing barriers and appends,
// deaths and restarts, sealing, and subscribers that are slow or go away. After every
// step the log is what the model says, and so is every subscriber.
func TestTurnsAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newModel(t, rt)
		defer m.w.Close()
		rt.Repeat(map[string]func(*rapid.T){
			"start":         m.start,
			"emit":          m.emit,
			"late emission": m.emitLate,
			"finish":        m.finish,
			"finish again":  m.finishAgain,
			"process exit":  m.exit,
			"submit fails":  m.submitFails,
			"publish":       m.publish,
			"append fails":  m.fault,
			"death":         m.die,
			"seal":          m.seal,
			"keep cursor":   m.keepCursor,
			"subscribe":     m.subscribe,
			"read a little": m.readSome,
			"":              m.check,
		})
	})
}

// A told is what a turn's capability must answer.
type told struct {
	turn     *turn.Turn
	number   int
	broker   uint64
	finished *turn.Event // as Finish returned it
}

type model struct {
	dir     string
	o       turn.Options
	w       *turn.Writer
	faulted bool
	stuck   bool // the barrier fails
	due     int  // the number of the turn whose barrier is due
	cleared []int

	words   []string // the log, as of brief
	state   map[string]string
	turns   []*told // those of this writer's life; the last may be open
	number  int
	cursors map[timeline.Cursor]int
	subs    []*subscriber
}

func newModel(t *testing.T, rt *rapid.T) *model {
	m := &model{dir: filepath.Join(t.TempDir(), "s1"), cursors: map[timeline.Cursor]int{}, state: map[string]string{}}
	if err := os.Mkdir(m.dir, 0o700); err != nil {
		rt.Fatal(err)
	}
	m.o = turn.Options{Buffered: true, SegmentBytes: rapid.Int64Range(300, 3000).Draw(rt, "segment bytes")}
	m.o.Barrier = func(_ context.Context, e turn.Event) error {
		if m.stuck {
			return errors.New("stuck")
		}
		m.cleared = append(m.cleared, int(e.TurnNumber()))
		return nil
	}
	m.open(rt)
	return m
}

func (m *model) open(rt *rapid.T) {
	w, err := turn.Open(rt.Context(), m.dir, m.o)
	if err != nil {
		rt.Fatal(err)
	}
	m.w, m.faulted = w, false
}

// last returns the turn that started last in this writer's life or was found by it.
func (m *model) last() *told {
	if len(m.turns) == 0 {
		return nil
	}
	return m.turns[len(m.turns)-1]
}

func (m *model) active(rt *rapid.T) *told {
	if last := m.last(); last != nil && last.finished == nil {
		return last
	}
	rt.Skip("no turn is open")
	return nil
}

// note adds what was appended to the model.
func (m *model) note(rt *rapid.T, e turn.Event) {
	if e.Seq != uint64(len(m.words)) {
		rt.Fatalf("got sequence %d, want %d", e.Seq, len(m.words))
	}
	m.words = append(m.words, brief([]turn.Event{e})...)
	m.cursors[e.Next] = len(m.words)
}

// refused checks an error of a call that must not append.
func (m *model) refused(rt *rapid.T, what string, err, want error) {
	if m.faulted {
		want = turn.ErrFaulted
	}
	if !errors.Is(err, want) || want == nil && err != nil {
		rt.Fatalf("%s: got %v, want %v", what, err, want)
	}
}

func (m *model) start(rt *rapid.T) {
	m.stuck = rapid.IntRange(0, 3).Draw(rt, "barrier") == 0
	tn, err := m.w.Start(rt.Context(), turn.Started{MID: fmt.Sprint("m", m.number+1), Token: fmt.Sprint("tok", m.number+1)})
	switch last := m.last(); {
	case m.faulted:
		m.refused(rt, "start", err, nil)
		return
	case last != nil && last.finished == nil:
		m.refused(rt, "start", err, turn.ErrActive)
		return
	case m.due != 0 && m.stuck:
		m.refused(rt, "start", err, turn.ErrBarrier)
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	m.completed()
	m.number++
	m.turns = append(m.turns, &told{turn: tn, number: m.number})
	m.note(rt, tn.Started())
	if int(tn.Number()) != m.number || tn.Token() != fmt.Sprint("tok", m.number) {
		rt.Fatalf("got turn %s with token %s, want number %d", tn.ID(), tn.Token(), m.number)
	}
}

func (m *model) completed() { m.due = 0 }

// emission draws what a producer says, with the next broker sequence, a replayed one
// or none.
func (m *model) emission(rt *rapid.T, last uint64) (turn.Native, turn.Emission) {
	p := rapid.SampledFrom([]turn.Emission{
		turn.Text{Text: "hi"}, turn.Thought{Text: "hm"}, turn.Usage{Total: 9}, turn.ResultObserved{Text: "done"},
		turn.Tool{ID: "c", Status: turn.ToolFailed}, turn.Permission{ID: "p", State: turn.PermissionAsked},
		turn.Diagnostic{Severity: turn.SeverityError, Text: "retry"},
	}).Draw(rt, "payload")
	n := turn.Native{Provider: "test", Turn: "theirs"}
	switch rapid.IntRange(0, 3).Draw(rt, "broker") {
	case 0:
		n.Broker = rapid.Uint64Range(0, last).Draw(rt, "replayed")
	case 1:
		n.Broker = last + rapid.Uint64Range(1, 3).Draw(rt, "ahead")
	}
	return n, p
}

func (m *model) emit(rt *rapid.T) {
	a := m.active(rt)
	n, p := m.emission(rt, a.broker)
	e, err := a.turn.Emit(rt.Context(), n, p)
	if n.Broker != 0 && n.Broker <= a.broker {
		m.refused(rt, "replay", err, turn.ErrReplayed)
		return
	}
	if m.faulted {
		m.refused(rt, "emit", err, nil)
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	a.broker = max(a.broker, n.Broker)
	m.note(rt, e)
}

func (m *model) publish(rt *rapid.T) {
	s := turn.State{Name: rapid.SampledFrom([]string{"model", "mode"}).Draw(rt, "name"), Value: rapid.StringMatching("[a-z]{0,3}").Draw(rt, "value")}
	e, err := m.w.Publish(rt.Context(), none, s)
	if m.faulted {
		m.refused(rt, "publish", err, nil)
		return
	}
	if err != nil {
		rt.Fatal(err)
	}
	m.state[s.Name] = s.Value
	m.note(rt, e)
}

// fault lets the next append fail. Nothing can be written from then on.
func (m *model) fault(rt *rapid.T) {
	if m.faulted {
		rt.Skip("faulted already")
	}
	broken := errors.New("broken")
	m.w.Trouble(turn.Trouble{Write: func(func() error) error { return broken }})
	if _, err := m.w.Publish(rt.Context(), none, turn.State{Name: "lost"}); !errors.Is(err, turn.ErrFaulted) || !errors.Is(err, broken) {
		rt.Fatalf("got %v, want %v", err, turn.ErrFaulted)
	}
	m.faulted = true
	for _, s := range m.subs {
		s.ended = s.ended || s.beside == m.w
	}
}

// die ends the writer's life, with or without a torn line behind it, and begins
// another one from the files.
func (m *model) die(rt *rapid.T) {
	torn := rapid.Bool().Draw(rt, "torn")
	if err := m.w.Close(); err != nil {
		rt.Fatal(err)
	}
	if paths, _ := filepath.Glob(filepath.Join(m.dir, "turns", "*.ndjson")); torn && len(paths) > 0 {
		f, err := os.OpenFile(paths[len(paths)-1], os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			rt.Fatal(err)
		}
		f.WriteString(`{"ts":"2026-11-30T09:3`)
		f.Close()
	}
	for _, s := range m.subs {
		s.ended = s.ended || s.beside == m.w
	}
	m.open(rt)
	before := m.last()
	m.turns = nil
	last, ok := m.w.Last()
	if ok != (m.number > 0) {
		rt.Fatalf("got a last turn %v, want %v", ok, m.number > 0)
	}
	if !ok {
		return
	}
	t := &told{turn: last, number: m.number, broker: last.Broker()}
	if before != nil && (before.broker != t.broker || before.turn.ID() != last.ID() || last.Token() != before.turn.Token()) {
		rt.Fatalf("got turn %s at %d, want %s at %d", last.ID(), t.broker, before.turn.ID(), before.broker)
	}
	if e, done := last.Finished(); done {
		t.finished = &e
		m.due = m.number // nobody knows whether the barrier was complete
	}
	if _, open := m.w.Active(); open != (t.finished == nil) {
		rt.Fatalf("got an open turn %v, want %v", open, t.finished == nil)
	}
	m.turns = []*told{t}
}

func (m *model) seal(rt *rapid.T) {
	if _, err := m.w.Log().Seal(rt.Context()); err != nil {
		rt.Fatal(err)
	}
}

func (m *model) keepCursor(rt *rapid.T) {
	end, err := m.w.Log().End(rt.Context())
	if err != nil {
		rt.Fatal(err)
	}
	m.cursors[end] = len(m.words)
}

// check compares everything with the model, after every step.
func (m *model) check(rt *rapid.T) {
	outside, err := turn.Read(m.dir, turn.ReadOptions{})
	if err != nil {
		rt.Fatal(err)
	}
	for _, l := range []*turn.Log{m.w.Log(), outside} {
		start, err := l.Start(rt.Context())
		if err != nil {
			rt.Fatal(err)
		}
		m.checkFrom(rt, l, start, 0)
	}
	some := 0
	for c, seq := range m.cursors {
		if m.checkFrom(rt, outside, c, seq); some == 3 {
			break
		}
		some++
	}
	if got := m.w.State(); fmt.Sprint(got) != fmt.Sprint(m.state) {
		rt.Fatalf("got the facts %v, want %v", got, m.state)
	}
	if !slices.IsSorted(m.cleared) {
		rt.Fatalf("barriers ran for %v: an old turn's after a newer one's", m.cleared)
	}
	for n := 1; n < m.number; n++ {
		if !slices.Contains(m.cleared, n) {
			rt.Fatalf("turn %d started, and the barrier of %d never completed", m.number, n)
		}
	}
	for _, s := range m.subs {
		s.check(rt, m.words)
	}
}

func (m *model) checkFrom(rt *rapid.T, l *turn.Log, c timeline.Cursor, from int) {
	var events []turn.Event
	for e, err := range l.History(rt.Context(), c) {
		if err != nil {
			rt.Fatalf("from %d: %v", from, err)
		}
		events = append(events, e)
	}
	if got := brief(events); !slices.Equal(got, m.words[from:]) {
		rt.Fatalf("from %d: got\n%q, want\n%q", from, got, m.words[from:])
	}
}
