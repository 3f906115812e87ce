package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock"
)

// DefaultSweepGrace is what [SweepOptions] means where it does not say otherwise.
const DefaultSweepGrace = 30 * time.Second

// Inserting returns how many messages are being handed over now. When the context of a
// run has ended, these are what it waits for.
func (s *Sweeper) Inserting() int { return int(s.inserting.Load()) }

// A grace is the time between the end of a sweeper's context and that of the
// inserts that are under way then.
type grace struct {
	ctx     context.Context // when it ends nothing new is started
	inserts context.Context // ends a grace later
	cut     context.CancelFunc
	length  time.Duration // negative means as long as they take
	hurry   <-chan struct{}
	log     *slog.Logger
	open    *atomic.Int64 // inserts; see [Sweeper.Inserting]

	mu     sync.Mutex
	passes map[string]string // the mid that is being inserted, by session; empty between two
}

// grace returns what the passes of one run have in common. The returned function
// ends it, and must be called when no pass is left.
func (s *Sweeper) grace(ctx context.Context) (g *grace, end func()) {
	g = &grace{
		ctx: ctx, length: s.options.Grace, hurry: s.options.Hurry, log: s.options.Logger,
		open:   &s.inserting,
		passes: map[string]string{},
	}
	g.inserts, g.cut = context.WithCancel(context.WithoutCancel(ctx))
	waited := make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(waited)
		g.wait()
	})
	return g, func() {
		g.cut()
		if !unwatch() {
			<-waited
		}
	}
}

// wait lets the inserts go on for the grace, and then cuts them short.
func (g *grace) wait() {
	g.tell(slog.LevelInfo, "waiting for a pass to end")
	var up <-chan time.Time
	if g.length >= 0 {
		timer := time.NewTimer(g.length)
		defer timer.Stop()
		up = timer.C
	}
	select {
	case <-g.inserts.Done():
		return
	case <-up:
	case <-g.hurry:
	}
	g.tell(slog.LevelWarn, "cutting a pass short: what it hands over stays unconfirmed")
	g.cut()
}

// tell logs a line for each pass that is at work.
func (g *grace) tell(level slog.Level, what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id, mid := range g.passes {
		attrs := []any{"session", id}
		if mid != "" {
			attrs = append(attrs, "mid", mid)
		}
		g.log.Log(g.inserts, level, what, attrs...)
	}
}

func (g *grace) enter(id, mid string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passes[id] = mid
}

func (g *grace) leave(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.passes, id)
}

// run is [pass.run] with the session's own adapter, used in such a way that an
// insert outlasts the pass's context. What keeps the adapter from being had is left
// to the pass, which says so.
func (g *grace) run(p *pass, held *lock.Delivery) (err error) {
	defer held.Release() // the adapter may panic while it is opened
	p.options.Adapter = adapter.Opened{}
	leave, unopened := p.open()
	if unopened != nil {
		return p.run(g.ctx, held)
	}
	defer func() { err = errors.Join(err, leave()) }()
	own := p.adapter
	p.options.Adapter = adapter.Opened{Name: own.Name, Adapter: outlasting{own, g}, Policy: own.Policy}
	return p.run(g.ctx, held)
}

// calledOff reports that a pass ended because the sweeper does.
func (g *grace) calledOff(err error) bool {
	ended := g.ctx.Err()
	return ended != nil && (errors.Is(err, ended) || errors.Is(err, g.inserts.Err()))
}

// An outlasting adapter is one whose inserts end with their grace. Its other
// methods are those of Opened, which answers for abilities that the adapter lacks.
type outlasting struct {
	adapter.Opened
	grace *grace
}

func (o outlasting) Headless() bool { return o.Adapter.Headless() }

func (o outlasting) Insert(_ context.Context, p adapter.Prompt) error {
	if err := o.grace.ctx.Err(); err != nil {
		return adapter.Refuse(fmt.Errorf("not started: %w", err))
	}
	o.grace.open.Add(1)
	defer o.grace.open.Add(-1)
	o.grace.enter(p.Session, p.MID)
	defer o.grace.enter(p.Session, "")
	return o.Adapter.Insert(o.grace.inserts, p)
}
