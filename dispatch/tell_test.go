package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline/session"
)

// A ledger is a log handler that keeps each line with its attributes.
type ledger struct {
	with []slog.Attr
	kept *kept
}

type kept struct {
	mu    sync.Mutex
	lines []told
}

// A told is one line.
type told struct {
	level slog.Level
	msg   string
	attrs map[string]string
}

func newLedger() ledger { return ledger{kept: &kept{}} }

func (l ledger) Enabled(context.Context, slog.Level) bool { return true }
func (l ledger) WithGroup(string) slog.Handler            { panic("no line has groups") }

func (l ledger) WithAttrs(attrs []slog.Attr) slog.Handler {
	return ledger{slices.Concat(l.with, attrs), l.kept}
}

func (l ledger) Handle(_ context.Context, r slog.Record) error {
	line := told{r.Level, r.Message, map[string]string{}}
	add := func(a slog.Attr) bool {
		if _, twice := line.attrs[a.Key]; twice {
			panic("attribute " + a.Key + " twice in " + r.Message)
		}
		line.attrs[a.Key] = a.Value.String()
		return true
	}
	for _, a := range l.with {
		add(a)
	}
	r.Attrs(add)
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	l.kept.lines = append(l.kept.lines, line)
	return nil
}

// take returns the lines since the last call, each as level, message and mid.
func (l ledger) take(t testing.TB) (lines []string) {
	t.Helper()
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	for _, line := range l.kept.lines {
		line.check(t)
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", line.level, line.msg, line.attrs["mid"])))
	}
	l.kept.lines = nil
	return lines
}

// attrsOf are what a line with that message has beside session and mid.
var attrsOf = map[string][]string{
	"accepted": {}, "replayed": {}, "delivered": {}, "confirmed": {}, "absent": {}, "revoked": {},
	"refused": {"attempts", "reason"}, "unconfirmed": {"attempts", "reason"},
	"backoff": {"until", "failures"}, "lock timeout": {"lock", "waited", "error"},
	"corrupt": {"error"}, "not delivered": {"error"},
}

// withoutMessage are the lines that are about no message.
var withoutMessage = []string{"lock timeout", "corrupt", "not delivered", "backoff"}

// check fails unless the line is one of those that are promised, with what it must have.
func (l told) check(t testing.TB) {
	t.Helper()
	want, known := attrsOf[l.msg]
	if !known {
		t.Errorf("got a line %q, want one of those that are documented", l.msg)
	}
	for _, name := range append([]string{"session"}, want...) {
		if l.attrs[name] == "" {
			t.Errorf("%s: got attributes %v, want %s", l.msg, l.attrs, name)
		}
	}
	if l.attrs["mid"] == "" && !slices.Contains(withoutMessage, l.msg) {
		t.Errorf("%s: got attributes %v, want the mid", l.msg, l.attrs)
	}
	for _, value := range l.attrs {
		if strings.Contains(value, secret) {
			t.Errorf("%s: got %v, which holds the text or the key of a message", l.msg, l.attrs)
		}
	}
}

// secret is in each text and each key of the tests about logs.
const secret = "xyzzy"

// told goes on with a Dispatcher that counts and logs.
func (w *world) told(o session.Options) (*dispatch.Counters, ledger) {
	c, l := &dispatch.Counters{}, newLedger()
	w.Close()
	store, err := session.OpenStore(w.dir, o)
	must(w.t, err)
	w.store = store
	w.Dispatcher = dispatch.New(store, dispatch.Options{Adapters: w.registry(), Counters: c, Logger: slog.New(l)})
	w.t.Cleanup(func() { w.Close() })
	return c, l
}

// counts is what c says.
func counts(c *dispatch.Counters) string {
	return fmt.Sprintf("accepted %d replayed %d delivered %d refused %d unconfirmed %d revoked %d passes %d timeouts %d",
		c.Accepted.Load(), c.Replayed.Load(), c.Delivered.Load(), c.Refused.Load(), c.Unconfirmed.Load(),
		c.Revoked.Load(), c.Passes.Load(), c.LockTimeouts.Load())
}

// Each thing that becomes of a message has its line and its count.
func TestWhatBecomesOfMessagesIsToldAndCounted(t *testing.T) {
	w := newWorld(t, "s1", "closing")
	c, log := w.told(session.Options{})
	expect := func(what, wantCounts string, lines ...string) {
		t.Helper()
		wantEqual(t, what, log.take(t), lines)
		if got := counts(c); got != wantCounts {
			t.Errorf("%s: got %s, want %s", what, got, wantCounts)
		}
	}
	say := func(m dispatch.Message) string {
		t.Helper()
		m.Text = secret
		a, err := w.SendText(t.Context(), "s1", m)
		must(t, err)
		return a.MID
	}
	one := say(dispatch.Message{Key: secret})
	expect("taken", "accepted 1 replayed 0 delivered 1 refused 0 unconfirmed 0 revoked 0 passes 1 timeouts 0",
		"INFO accepted "+one, "INFO delivered "+one)
	say(dispatch.Message{Key: secret})
	expect("replayed", "accepted 1 replayed 1 delivered 1 refused 0 unconfirmed 0 revoked 0 passes 1 timeouts 0",
		"INFO replayed "+one)
	w.agent.set(busy)
	two := say(dispatch.Message{})
	expect("refused", "accepted 2 replayed 1 delivered 1 refused 1 unconfirmed 0 revoked 0 passes 2 timeouts 0",
		"INFO accepted "+two, "WARN refused "+two)
	w.agent.set(vague)
	_, err := w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	expect("unconfirmed", "accepted 2 replayed 1 delivered 1 refused 1 unconfirmed 1 revoked 0 passes 3 timeouts 0",
		"WARN unconfirmed "+two)
	if err == nil {
		t.Error("got no error of a pass that ended early")
	}
	_, err = w.Confirm(t.Context(), "s1", two, true)
	must(t, err)
	expect("absent", "accepted 2 replayed 1 delivered 1 refused 1 unconfirmed 1 revoked 0 passes 3 timeouts 0",
		"INFO absent "+two)
	_, _ = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	_, err = w.Confirm(t.Context(), "s1", two, false)
	must(t, err)
	_, err = w.Confirm(t.Context(), "s1", two, false) // it is delivered already
	must(t, err)
	expect("confirmed", "accepted 2 replayed 1 delivered 2 refused 1 unconfirmed 2 revoked 0 passes 4 timeouts 0",
		"WARN unconfirmed "+two, "INFO confirmed "+two)
	three := say(dispatch.Message{NoDrain: true})
	must(t, w.Revoke(t.Context(), "s1", three))
	expect("revoked", "accepted 3 replayed 1 delivered 2 refused 1 unconfirmed 2 revoked 1 passes 4 timeouts 0",
		"INFO accepted "+three, "INFO revoked "+three)
	four := say(dispatch.Message{From: "closing", NoDrain: true})
	s, err := w.store.Open("closing")
	must(t, err)
	must(t, errors.Join(s.Close(t.Context()), s.Release()))
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	expect("voided", "accepted 4 replayed 1 delivered 2 refused 1 unconfirmed 2 revoked 2 passes 5 timeouts 0",
		"INFO accepted "+four, "INFO revoked "+four)
}

// What keeps a whole session from going on is told without a mid.
func TestWhatStandsInTheWayIsTold(t *testing.T) {
	w := newWorld(t, "s1")
	c, log := w.told(session.Options{LockWait: time.Millisecond})
	mid := w.later("s1", "go")
	log.take(t)
	locks, err := lock.Open(filepath.Join(w.dir, "sessions", "s1"), lock.Options{})
	must(t, err)
	held, err := locks.Record(t.Context())
	must(t, err)
	_, err = w.SendText(t.Context(), "s1", dispatch.Message{Text: secret})
	wantIs(t, err, lock.ErrTimeout)
	must(t, held.Release())
	pass, err := locks.Delivery(t.Context())
	must(t, err)
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	wantIs(t, err, lock.ErrTimeout)
	must(t, errors.Join(pass.Release(), locks.Close()))
	wantEqual(t, "lines", log.take(t), []string{"WARN lock timeout"}) // the send was refused: its caller knows
	if got := c.LockTimeouts.Load(); got != 2 {
		t.Errorf("got %d lock timeouts, want 2", got)
	}
	record := filepath.Join(w.dir, "sessions", "s1", "session.json")
	sound, err := os.ReadFile(record)
	must(t, err)
	must(t, os.WriteFile(record, []byte("{]"), 0o600))
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	wantIs(t, err, session.ErrUnreadable)
	must(t, os.WriteFile(record, sound, 0o600))
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{Redeliver: "m0"})
	if err == nil {
		t.Error("got no error about a message that is not there")
	}
	wantEqual(t, "lines", log.take(t), []string{"ERROR corrupt", "WARN not delivered"})
	_, err = w.Drain(t.Context(), "s1", dispatch.DrainOptions{})
	must(t, err)
	wantEqual(t, "lines", log.take(t), []string{"INFO delivered " + mid})
}

// The sweeper says each thing once, and at level debug as long as it is as it was.
func TestTheSweeperTellsWhatIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "s1", "idle")
		_, log := w.told(session.Options{})
		w.agent.set(busy)
		mid := w.later("s1", "go")
		log.take(t)
		sweeper := newLedger()
		o := polling
		o.Logger = slog.New(sweeper)
		o.Random = func() float64 { return 0 }
		defer sweeping(t, dispatch.NewSweeper(w.Dispatcher, o))()
		pass(time.Second / 2)
		wantEqual(t, "first lines", sweeper.take(t), []string{"WARN refused " + mid, "INFO backoff " + mid})
		pass(2 * time.Second)
		wantEqual(t, "lines of the second attempt", sweeper.take(t), []string{"DEBUG refused " + mid, "DEBUG backoff " + mid})
		w.agent.set(vague)
		pass(3 * time.Second)
		wantEqual(t, "lines of another answer", sweeper.take(t), []string{"WARN unconfirmed " + mid, "INFO backoff " + mid})
		_, err := w.Confirm(t.Context(), "s1", mid, true)
		must(t, err)
		w.agent.set(nil)
		pass(2 * time.Minute)
		wantEqual(t, "last lines", sweeper.take(t), []string{"INFO delivered " + mid})
		pass(time.Hour)
		wantEqual(t, "lines without a debt", sweeper.take(t), nil)
		wantEqual(t, "lines of the Dispatcher", log.take(t), []string{"INFO absent " + mid}) // the passes are the sweeper's
	})
}
