//go:build linux || darwin

package host_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter/host"
)

// A teller is a slow log: for each line, it waits whether an agent is started
// meanwhile.
type teller struct {
	slog.Handler
	starts *atomic.Int32
	lines  chan string
}

func (teller) Enabled(context.Context, slog.Level) bool { return true }
func (h teller) WithAttrs([]slog.Attr) slog.Handler     { return h }
func (h teller) Handle(_ context.Context, r slog.Record) error {
	before, end := h.starts.Load(), time.After(50*time.Millisecond)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for waiting := true; waiting; {
		select {
		case <-tick.C:
			waiting = h.starts.Load() == before
		case <-end:
			waiting = false
		}
	}
	if h.starts.Load() != before {
		h.lines <- "too late: " + r.Message
	}
	h.lines <- r.Message
	return nil
}

// What became of an agent is in the log before the next one is started, however slow
// the log is.
func TestTheLogIsInTheOrderOfWhatHappened(t *testing.T) {
	var starts atomic.Int32
	lines, agents := make(chan string, 100), make(chan *fake, 100)
	serve(t, newDir(t), func(context.Context, *host.Seat) (host.Agent, error) {
		if starts.Add(1) == 1 {
			return nil, errors.New("no such model")
		}
		agent := newFake()
		agents <- agent
		return agent, nil
	}, func(o *host.Options) {
		o.Logger = slog.New(teller{starts: &starts, lines: lines})
		o.FirstBackoff, o.LastBackoff = time.Millisecond, time.Millisecond
	})
	receive(t, "agent", agents).die(errors.New("exit status 3"))
	receive(t, "second agent", agents)
	var got []string
	for range 4 {
		got = append(got, receive(t, "line", lines))
	}
	want := []string{"the agent does not start: it is tried again", "the agent is up", "the agent is down", "the agent is up"}
	if !slices.Equal(got, want) {
		t.Errorf("got log %q, want %q", got, want)
	}
}
