package turns

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/lock/step"
	"github.com/docket-go/docket/timeline/turn"
)

// Options configures a [Recorder]. The zero value is ready to use.
type Options struct {
	// Turns configures the turn log. Its Barrier and Faulted are called beside what
	// the recorder does itself. A LockWait of zero means no bound here: what the agent
	// emits meanwhile waits with the broker, while a wait that runs out faults the log.
	Turns turn.Options

	// Drain makes one delivery pass of the session. It is called whenever the host can
	// take a prompt again, never twice at a time, and beside everything else; not after a prompt that the
	// agent did not take, which is tried again when others make a pass. Its
	// error is logged: what is owed stays owed. Nil means that others deliver.
	Drain func(ctx context.Context) error

	// Permissions is told what the agent waits for, after each change and, as part of
	// the barrier, once more with nothing pending; see [Asking]. It may be told the
	// same again. An error is logged inside a turn, and fails the barrier after it. Nil
	// means that whoever reads the turn log sees it there.
	Permissions func(ctx context.Context, p Pending) error

	// Logger gets a line for each of these, with the session. The words are stable:
	//
	//	INFO  turn starts        turn, mid
	//	INFO  turn is over       turn, end, diagnostic, mid
	//	INFO  pass ended         error, and mid where it ended at a message
	//	INFO  attach again       error; DEBUG where the host has just ended
	//	INFO  not ready          error
	//	WARN  barrier failed     error, turn, mid: it is tried again
	//	WARN  fact not recorded  error, name
	//	WARN  permissions not declared  error, turn, mid
	//
	// Nothing of what was said is in them. Nil means that nothing is logged.
	Logger *slog.Logger

	// Retry is the pause before another attempt to attach to a host that does not
	// answer, and before a failed barrier is tried again. Zero means 100 ms.
	Retry time.Duration
}

// Pending is what the agent of a session waits for.
type Pending struct {
	Turn        string // the turn's id
	Finished    bool   // that turn is over, and nothing is pending any more
	Permissions []turn.Permission
}

// A Recorder is the one owner of a session's turn log. Make it with [Open] and run
// it with [Recorder.Run].
type Recorder struct {
	dir     string
	options Options
	writer  *turn.Writer
	work    sync.WaitGroup

	mu    sync.Mutex
	owner *host.Owner // while attached
	turn  *turn.Turn  // that the broker works on or worked on last

	// Of the goroutine of Run alone:
	asked   []turn.Permission // by that turn, and not answered
	refused bool              // that turn's prompt did not provably reach the agent

	draining, again bool // see drain
}

// Open opens the turn log of the session directory dir for recording. No host need
// be there. The errors are those of [turn.Open]; a second Recorder of a session is
// refused with [turn.ErrWriter].
func Open(ctx context.Context, dir string, o Options) (*Recorder, error) {
	o.Retry = cmp.Or(o.Retry, 100*time.Millisecond)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Logger = o.Logger.With("session", cmp.Or(o.Turns.Session, filepath.Base(dir)))
	r := &Recorder{dir: dir, options: o}
	log := o.Turns
	log.LockWait = cmp.Or(log.LockWait, -1)
	log.Barrier, log.Faulted = r.barrier, r.faulted
	var err error
	if r.writer, err = turn.Open(ctx, dir, log); err != nil {
		return nil, err
	}
	return r, nil
}

// Log returns the turn log for reading beside the recorder.
func (r *Recorder) Log() *turn.Log { return r.writer.Log() }

// State returns the facts about the session that hold now, such as the harness's own
// id of its session, with which a new host can have it resumed.
func (r *Recorder) State() map[string]string { return r.writer.State() }

// Close gives the log to the next recorder. Run must have returned.
func (r *Recorder) Close() error {
	r.work.Wait()
	return r.writer.Close()
}

// Run attaches to the session's host and records until ctx ends or the host is gone.
//
// Nil means that ctx ended; the host goes on without a recorder, and a turn that is
// open stays open for the next. An error that is [host.ErrNoHost] means that no host
// listens: the turn that was open is finished as interrupted/runtime_restart, and its
// barrier has run. [host.ErrVersion] means that the host was left alone, and so was
// the turn. [turn.ErrFaulted] means that nothing can be recorded any more: close this
// Recorder and open another. A lost connection, and a recorder before this one
// whose connection has not ended yet, are waited out.
//
// It may be called again after it returned, once at a time. If the process dies
// inside, see the package comment.
func (r *Recorder) Run(ctx context.Context) error {
	for {
		err := r.attached(ctx)
		switch {
		case r.writer.Err() != nil:
			return r.writer.Err()
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, host.ErrNoHost):
			return errors.Join(err, r.orphaned(ctx))
		case errors.Is(err, host.ErrVersion), errors.Is(err, host.ErrPeer), errors.Is(err, host.ErrUnsupported):
			return err
		}
		level := slog.LevelInfo
		if errors.Is(err, io.EOF) { // as when a host ends
			level = slog.LevelDebug
		}
		r.options.Logger.Log(ctx, level, "attach again", "error", err)
		if !r.pause(ctx) {
			return nil
		}
	}
}

func (r *Recorder) pause(ctx context.Context) bool {
	t := time.NewTimer(r.options.Retry)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// attached is one connection to the broker, from its beginning to its end.
func (r *Recorder) attached(ctx context.Context) error {
	owner, err := host.Attach(ctx, r.dir)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer r.work.Wait()
	defer cancel()
	defer context.AfterFunc(ctx, func() { owner.Close() })()
	defer owner.Close()
	r.hold(owner)
	defer r.hold(nil)
	if err := r.catchUp(ctx, owner); err != nil {
		return err
	}
	return r.follow(ctx, owner)
}

func (r *Recorder) hold(owner *host.Owner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.owner = owner
}

// catchUp makes log and broker agree on the turn that is open, without dispatching.
func (r *Recorder) catchUp(ctx context.Context, owner *host.Owner) error {
	has := owner.Attachment()
	if open, ok := r.writer.Active(); ok {
		if open.Token() == has.Token && has.Token != "" {
			err := r.rebind(ctx, owner, open)
			if !errors.Is(err, host.ErrGap) {
				return err
			}
			err = r.end(ctx, open, turn.Finished{Outcome: turn.Interrupted, Code: CodeReplayGap, Diagnostic: err.Error()})
			if err != nil {
				return err
			}
		} else if err := r.unknown(ctx, open, has); err != nil {
			return err
		}
	}
	if has.Token != "" && !has.Ready {
		if err := owner.Abandon(has.Token); err != nil { // a no-op on a turn that is finished
			return err
		}
	}
	r.readySoon(ctx, owner, has.Token)
	return nil
}

// CodeReplayGap is the code of an interrupted turn whose surviving broker did not keep
// all that the log is missing.
const CodeReplayGap = "replay_gap"

// rebind goes on with the open turn behind what is committed.
func (r *Recorder) rebind(ctx context.Context, owner *host.Owner, open *turn.Turn) error {
	if err := owner.Rebind(open.Token(), open.Broker()); err != nil {
		return err
	}
	r.begin(open)
	for e, err := range r.Log().History(ctx, open.Started().Next) {
		if err != nil {
			return err
		}
		if p, ok := e.Payload.(turn.Permission); ok && e.Turn == open.ID() {
			r.permission(p)
		}
	}
	r.tell(ctx, Pending{Turn: open.ID(), Permissions: r.asked})
	return nil
}

// begin makes t the turn that emissions belong to.
func (r *Recorder) begin(t *turn.Turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.turn, r.asked, r.refused = t, nil, false
}

// unknown finishes a turn that the broker does not have.
func (r *Recorder) unknown(ctx context.Context, open *turn.Turn, has host.Attachment) error {
	if has.Minted(open.Token()) {
		// This broker offered the prompt and never got the word to dispatch it.
		d := turn.Diagnostic{Severity: turn.SeverityError, Code: host.CodeSubmitRefused, Text: "the recorder died before the prompt was dispatched"}
		if _, err := open.Emit(ctx, turn.Native{}, d); err != nil {
			return err
		}
	}
	return r.end(ctx, open, turn.Finished{Outcome: turn.Interrupted, Code: turn.CodeRuntimeRestart, Diagnostic: "its host does not have it any more"})
}

// orphaned finishes the open turn of a host that is gone.
func (r *Recorder) orphaned(ctx context.Context) error {
	open, ok := r.writer.Active()
	if !ok {
		return r.writer.Ready(ctx)
	}
	return r.end(ctx, open, turn.Finished{Outcome: turn.Interrupted, Code: turn.CodeRuntimeRestart, Diagnostic: "its host is gone"})
}

// end finishes a turn from outside. A barrier that fails is tried again later.
func (r *Recorder) end(ctx context.Context, t *turn.Turn, f turn.Finished) error {
	over, err := t.End(ctx, turn.Native{}, f)
	if errors.Is(err, turn.ErrBarrier) {
		err = nil
	} else {
		step.At("dispatch/turns: ended")
	}
	if err == nil {
		r.tellOver(t, over)
	}
	return err
}

// readySoon is ready beside everything else: a barrier that fails for long must not
// keep what the broker says unheard.
func (r *Recorder) readySoon(ctx context.Context, owner *host.Owner, token string) {
	r.work.Go(func() {
		if err := r.ready(ctx, owner, token); err != nil {
			r.options.Logger.Info("not ready", "error", err)
			owner.Close()
		}
	})
}

// ready tells the broker that the next prompt may come, once the barrier has
// succeeded.
func (r *Recorder) ready(ctx context.Context, owner *host.Owner, token string) error {
	for {
		err := r.writer.Ready(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, turn.ErrBarrier) {
			return err
		}
		r.options.Logger.Warn("barrier failed", r.about("error", err)...)
		if !r.pause(ctx) {
			return context.Cause(ctx)
		}
	}
	step.At("dispatch/turns: cleared")
	if err := owner.Ready(token); err != nil {
		return err
	}
	step.At("dispatch/turns: ready")
	return nil
}

// drain has a pass made. One that is asked for during a pass is made after it.
func (r *Recorder) drain(ctx context.Context) {
	if r.options.Drain == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.again = true
	if r.draining {
		return
	}
	r.draining = true
	r.work.Go(func() {
		for r.more(ctx) {
			if err := r.options.Drain(ctx); err != nil && ctx.Err() == nil {
				r.tellPass(err)
			}
		}
	})
}

// more reports whether another pass was asked for.
func (r *Recorder) more(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = r.again && ctx.Err() == nil
	r.again = false
	return r.draining
}

// barrier clears what belonged to a finished turn.
func (r *Recorder) barrier(ctx context.Context, finished turn.Event) error {
	if r.options.Permissions != nil {
		if err := r.options.Permissions(ctx, Pending{Turn: finished.Turn, Finished: true}); err != nil {
			return err
		}
	}
	if r.options.Turns.Barrier != nil {
		return r.options.Turns.Barrier(ctx, finished)
	}
	return nil
}

// faulted stops the producer: nothing of it can be recorded any more.
func (r *Recorder) faulted(err error) {
	r.mu.Lock()
	owner, t := r.owner, r.turn
	r.mu.Unlock()
	if owner != nil {
		if t != nil {
			_ = owner.Abandon(t.Token()) // a broker that is gone has stopped, too
		}
		owner.Close()
	}
	if r.options.Turns.Faulted != nil {
		r.options.Turns.Faulted(err)
	}
}

func (r *Recorder) tell(ctx context.Context, p Pending) {
	if r.options.Permissions == nil {
		return
	}
	if err := r.options.Permissions(ctx, p); err != nil {
		r.options.Logger.Warn("permissions not declared", r.about("error", err)...)
	}
}
