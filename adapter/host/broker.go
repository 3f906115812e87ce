package host

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock/step"
)

// Options configures a [Broker]. Start is required.
type Options struct {
	// Session is the session that the agent belongs to. Its Dir is required; an empty ID
	// means the base name of it.
	Session adapter.Session

	// Start starts the agent's program: once when the broker begins to serve, and
	// again when it has ended and a prompt is there.
	Start Starter

	// StartTimeout bounds one start. Zero means 2 minutes; a negative value means no
	// bound.
	StartTimeout time.Duration

	// SubmitTimeout bounds one [Agent.Submit]. Zero means 1 minute; a negative value
	// means no bound.
	SubmitTimeout time.Duration

	// InterruptGrace is how long a turn may go on after it was interrupted before
	// the program is ended. Zero means 30 seconds; a negative value means for ever.
	InterruptGrace time.Duration

	// StopGrace is how long an ending broker waits for its recorder to take the
	// last emissions, and how long the leftover of a dead broker may take to end.
	// Zero means 5 seconds; a negative value means not at all.
	StopGrace time.Duration

	// ReplayBytes bounds the emissions that wait for a recorder. A turn that emits
	// more is finished as interrupted, with [CodeReplayOverflow], and its program ended.
	// Zero means 64 MiB; a negative value means no bound.
	ReplayBytes int

	// FirstBackoff and LastBackoff are the pauses after the first and after many
	// failed starts in a row, until the next one. Zero means 1 second and 1 minute; a
	// negative FirstBackoff means none, and that only a prompt starts the program.
	FirstBackoff, LastBackoff time.Duration

	// Now is the clock of the pauses. Nil means [time.Now].
	Now func() time.Time

	// Logger gets a line for each of these, with the session. The words are stable:
	//
	//	INFO  delivered                mid: the agent has the prompt
	//	WARN  refused                  mid, reason; DEBUG where the host is busy
	//	WARN  unconfirmed              mid, reason
	//	INFO  the agent is up
	//	INFO  the agent is down        error
	//	WARN  the agent does not start: it is tried again
	//	                               error, until: when that is, if not only for a prompt;
	//	                               not once the broker was told to end
	//
	// Nothing of a prompt's text is in them; an error is the agent's own words. Nil
	// means that nothing is logged. How turns end is their recorder's to log.
	Logger *slog.Logger
}

func (o Options) withDefaults() (Options, error) {
	dir, err := filepath.Abs(o.Session.Dir)
	if err != nil || o.Session.Dir == "" || o.Start == nil {
		return o, errors.Join(errors.New("host: a broker needs a session directory and a Start"), err)
	}
	o.Session.Dir = dir
	o.Session.ID = cmp.Or(o.Session.ID, filepath.Base(dir))
	o.StartTimeout = cmp.Or(o.StartTimeout, 2*time.Minute)
	o.SubmitTimeout = cmp.Or(o.SubmitTimeout, time.Minute)
	o.InterruptGrace = cmp.Or(o.InterruptGrace, 30*time.Second)
	o.StopGrace = cmp.Or(o.StopGrace, 5*time.Second)
	o.ReplayBytes = cmp.Or(o.ReplayBytes, 64<<20)
	o.FirstBackoff = cmp.Or(o.FirstBackoff, time.Second)
	o.LastBackoff = cmp.Or(o.LastBackoff, time.Minute)
	if o.ReplayBytes < 0 {
		o.ReplayBytes = int(^uint(0) >> 1)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("session", o.Session.ID)
	return o, nil
}

// A Broker owns the agent of one session. Make it with [Open] and run it with
// [Broker.Serve].
type Broker struct {
	options  Options
	dir      string
	instance string // begins every token
	unique   *unique
	listener *net.UnixListener
	socket   string

	ctx    context.Context // ends with Serve
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu    sync.Mutex
	state state
}

// Open makes this process the broker of a session and binds its socket; connections
// wait until [Broker.Serve] takes them. What a dead broker left of its agent is ended
// first.
//
// The error is [ErrRunning] when another broker serves the session, [ErrClosed] when
// there is no such session, and [ErrUnsupported] on other systems than Linux and
// macOS. Nothing is left behind then but the lock file. If the process dies, the
// next Open cleans up.
func Open(o Options) (*Broker, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if _, err := peerUID(-1); errors.Is(err, ErrUnsupported) {
		return nil, err
	}
	b := &Broker{options: o, dir: o.Session.Dir, instance: random(8)}
	b.state = state{facts: map[string]string{}, replays: o.ReplayBytes, senders: senders{fences: map[string]uint64{}, open: map[uint64]bool{}}}
	if b.unique, err = takeUnique(b.dir); err != nil {
		return nil, err
	}
	step.At("adapter/host: locked")
	endLeftover(b.dir, o.StopGrace)
	if b.listener, err = listen(b.dir); err != nil {
		return nil, errors.Join(err, b.unique.release())
	}
	b.socket = b.listener.Addr().String()
	b.ctx, b.cancel = context.WithCancel(context.Background())
	return b, nil
}

// random returns n random bytes in hexadecimal.
func random(n int) string {
	bytes := make([]byte, n)
	_, _ = rand.Read(bytes) // never fails
	return hex.EncodeToString(bytes)
}

// with runs do on the broker's state, alone. Whoever has a *state is inside.
func (b *Broker) with(do func(s *state)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do(&b.state)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// Serve starts the agent and serves until ctx ends, and returns nil then. The error
// is [ErrClosed] when the session directory went away meanwhile, or that of the
// socket.
//
// Before it returns, the open turn was finished as interrupted with [CodeHostStopped], the agent's
// process group ended, the recorder had its time to take that, and the socket is
// gone. It must be called once. If the process dies inside, the agent finds the end
// of its input, and the next broker ends what that did not.
func (b *Broker) Serve(ctx context.Context) error {
	b.work.Go(b.warm)
	accepted := make(chan error, 1)
	b.work.Go(func() { accepted <- b.accept() })
	gone := time.NewTicker(time.Duration(goneEvery.Load()))
	defer gone.Stop()
	for {
		select {
		case <-ctx.Done():
			return b.stop()
		case err := <-accepted:
			return errors.Join(fmt.Errorf("host: %w", err), b.stop())
		case <-gone.C:
			if b.unique.gone() {
				return errors.Join(fmt.Errorf("%w: %s", ErrClosed, b.dir), b.stop())
			}
		}
	}
}

// goneEvery is how often a broker looks whether its session is still there.
var goneEvery atomic.Int64

func init() { goneEvery.Store(int64(5 * time.Second)) }

// warm starts the agent so that the first prompt need not wait for it.
func (b *Broker) warm() { _ = b.up(b.ctx) } // which notes what is wrong

// stop ends everything, in the order in which the recorder can follow it.
func (b *Broker) stop() error {
	var agent *running
	b.with(func(s *state) {
		s.stopping = true
		if s.offer != nil {
			s.resolve(s.offer, s.busy())
		}
		if t := s.open(); t != nil {
			s.finish(t, Native{}, Finished{Interrupted, CodeHostStopped, "the host was told to end"})
		}
		agent = s.agent
		if s.again != nil {
			s.again.Stop()
		}
	})
	step.At("adapter/host: stopping")
	if agent != nil {
		agent.kill()
		<-agent.gone
	}
	b.handOver()
	b.cancel()
	err := b.listener.Close()
	step.At("adapter/host: socket is gone")
	unlist(b.dir, b.socket)
	b.work.Wait()
	return errors.Join(err, b.unique.release())
}

// handOver waits until the recorder has taken everything, is gone, or had its time.
func (b *Broker) handOver() {
	waitUntil(b.options.StopGrace, func() (over bool) {
		b.with(func(s *state) { over = s.recorder == nil || s.turn == nil || len(s.turn.replay.kept) == 0 })
		return over
	})
}
