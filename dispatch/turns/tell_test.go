//go:build linux || darwin

package turns_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/dispatch/turns"
	"github.com/docket-go/docket/timeline/turn"
)

// A journal is a log that a test can read.
type journal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// lines returns level, message and mid of each line, after it has made sure that the
// session is in it once.
func (j *journal) lines(t testing.TB) (lines []string) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for line := range strings.Lines(j.b.String()) {
		var said struct{ Level, Msg, Session, MID string }
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatal(err)
		}
		if said.Session != "s1" || strings.Count(line, `"session"`) != 1 || strings.Contains(line, "xyzzy") {
			t.Errorf("got line %s, want the session in it, once, and nothing of the text", line)
		}
		lines = append(lines, strings.TrimSpace(said.Level+" "+said.Msg+" "+said.MID))
	}
	return lines
}

// wants waits until the log has these lines, among others, in this order.
func (j *journal) wants(t testing.TB, want ...string) {
	t.Helper()
	missing := func() []string {
		left := want
		for _, line := range j.lines(t) {
			if len(left) > 0 && line == left[0] {
				left = left[1:]
			}
		}
		return left
	}
	eventually(t, func() bool { return len(missing()) == 0 }, func() string {
		return "got log\n" + strings.Join(j.lines(t), "\n") + "\nwant in it " + strings.Join(missing(), ", ")
	})
}

// Broker and recorder tell of each message by its mid.
func TestHostAndRecorderTell(t *testing.T) {
	w, agent := newWorld(t), newHeld()
	var broker, recorder journal
	starts := 0
	w.serve(func(context.Context, *host.Seat) (host.Agent, error) {
		if starts++; starts == 1 {
			return nil, errors.New("no such model")
		}
		return agent, nil
	}, func(o *host.Options) {
		o.Logger, o.FirstBackoff, o.LastBackoff = broker.logger(), time.Millisecond, time.Millisecond
	})
	barrier := 0
	w.record(func(o *turns.Options) {
		o.Logger = recorder.logger()
		o.Turns.Barrier = func(context.Context, turn.Event) error {
			if barrier++; barrier <= 2 { // the first time, the end of the turn itself is the attempt
				return errors.New("not yet")
			}
			return nil
		}
	})
	broker.wants(t, "WARN the agent does not start: it is tried again", "INFO the agent is up")
	w.idle()
	one := w.send("xyzzy one").MID
	to := receive(t, agent.sinks)
	two := w.send("xyzzy two").MID // while the agent is at work
	broker.wants(t, "INFO delivered "+one, "DEBUG refused "+two)
	recorder.wants(t, "INFO turn starts "+one)
	to.Emit(none, host.Text{Text: "xyzzy"})
	to.Finish(none, success)
	recorder.wants(t, "INFO turn starts "+one, "INFO turn is over "+one, "WARN barrier failed "+one, "INFO turn starts "+two)
	receive(t, agent.sinks).Finish(none, success)
	recorder.wants(t, "INFO turn is over "+two)
	agent.Close()
	broker.wants(t, "INFO the agent is down")
}

// A start that the end of the host cuts short is not told as one that is tried again.
func TestAStartThatIsCutShortIsNotTriedAgain(t *testing.T) {
	w := newWorld(t)
	var broker journal
	starts := make(chan struct{}, 1)
	stop := w.serve(func(ctx context.Context, _ *host.Seat) (host.Agent, error) {
		starts <- struct{}{}
		<-ctx.Done() // it never answers
		return nil, ctx.Err()
	}, func(o *host.Options) { o.Logger = broker.logger() })
	receive(t, starts)
	stop()
	if lines := broker.lines(t); len(lines) > 0 {
		t.Errorf("got log %q, want nothing", lines)
	}
}

// What the agent does not take is told with the reason, and so is the end of the pass.
func TestARefusalOfTheAgentIsTold(t *testing.T) {
	for answer, level := range map[error]string{
		adapter.Refuse(errors.New("no room")):    "WARN refused ",
		adapter.Unconfirm(errors.New("no word")): "WARN unconfirmed ",
	} {
		w := newWorld(t)
		var broker, recorder journal
		stop := w.serve(only(refusing{newFake(), answer}), func(o *host.Options) { o.Logger = broker.logger() })
		a := w.later("xyzzy")
		_, leave := w.record(func(o *turns.Options) { o.Logger = recorder.logger() })
		broker.wants(t, level+a)
		recorder.wants(t, "INFO turn starts "+a, "INFO turn is over "+a)
		recorder.wants(t, "INFO pass ended "+a)
		if lines := broker.lines(t); slices.Contains(lines, "INFO delivered "+a) {
			t.Errorf("got %q, want no delivery", lines)
		}
		if err := leave(); err != nil {
			t.Error(err)
		}
		stop()
	}
}

// A refusing agent takes nothing.
type refusing struct {
	*fake
	answer error
}

func (r refusing) Submit(context.Context, adapter.Prompt, host.Sink) error { return r.answer }
