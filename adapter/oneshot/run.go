package oneshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/lock/step"
)

const (
	lastWords  = time.Second          // how long a program that does not read may take to end
	pollUnread = 5 * time.Millisecond // how often is looked whether the prompt was read
)

// A run is one process. One goroutine writes the prompt, one reads the events.
type run struct {
	a       *Agent
	t       *turn
	process *host.Process
	mapper  mapper
	stored  string // the id that the store has

	wrote   chan error    // gets the result of the writing
	hadAll  chan bool     // gets whether the program had the whole prompt, as far as can be told
	begun   chan struct{} // closed by the reader: the program works on the prompt
	ended   chan struct{} // closed by the reader: the process is gone and its output read
	decided chan struct{} // closed when Submit has its answer
	wanted  bool          // Submit returns nil: set before decided is closed
	over    chan struct{} // closed by the reader: nothing more comes

	kept    string      // the id that was stored and told
	account account     // the reader's; everybody's once over is closed
	linger  *time.Timer // ends a program whose turn is at its end
}

func newRun(a *Agent, t *turn, p *host.Process, id string) *run {
	return &run{
		a: a, t: t, process: p, mapper: a.preset.mapper(a.past(id)), stored: id, account: account{session: id},
		wrote: make(chan error, 1), hadAll: make(chan bool, 1), begun: make(chan struct{}), ended: make(chan struct{}),
		decided: make(chan struct{}), over: make(chan struct{}),
	}
}

// write hands over the prompt, byte for byte, and then the end of the input.
func (r *run) write(text string) {
	_, err := io.WriteString(r.process.Stdin, text)
	if err == nil {
		err = r.awaitRead()
	}
	step.At("adapter/oneshot: prompt is written")
	_ = r.process.Stdin.Close()
	r.wrote <- err
	r.hadAll <- err == nil
}

// awaitRead waits until the program has read everything, where that can be seen. The
// input is not at its end before, so a program that reads it all still waits.
func (r *run) awaitRead() error {
	tick := time.NewTicker(pollUnread)
	defer tick.Stop()
	for {
		n, known := unread(r.process.Stdin)
		if n == 0 || !known {
			return nil
		}
		select {
		case <-r.process.Done():
			return errUnread
		default:
		}
		select {
		case <-tick.C:
		case <-r.process.Done():
		}
	}
}

var (
	errUnread  = errors.New("oneshot: the program ended before it had read the message")
	errNoBegin = errors.New("oneshot: the program ended without having begun")
	errTime    = errors.New("oneshot: the program did not begin in time")
)

// await waits until the program has the prompt. The error is not yet an answer.
func (r *run) await(ctx context.Context) error {
	var settle <-chan time.Time
	wrote, begun := r.wrote, r.begun
	settled := false
	for wrote != nil || begun != nil && !settled {
		select {
		case err := <-wrote:
			if err != nil {
				return r.unwritten(err)
			}
			wrote = nil
			if !r.a.preset.early && r.a.options.Settle > 0 {
				timer := time.NewTimer(r.a.options.Settle)
				defer timer.Stop()
				settle = timer.C
			}
			settled = !r.a.preset.early && r.a.options.Settle < 0
		case <-begun:
			begun = nil
		case <-settle:
			settled = true
		case <-r.ended:
			return errNoBegin
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", errTime, context.Cause(ctx))
		}
	}
	return nil
}

// unwritten is why the prompt was not written. A program that does not read it has
// most often ended.
func (r *run) unwritten(err error) error {
	moment := time.NewTimer(lastWords)
	defer moment.Stop()
	select {
	case <-r.ended:
		return errNoBegin
	case <-moment.C:
		return fmt.Errorf("oneshot: the program does not read the message: %w", err)
	}
}

// decide tells the reader whether anybody wants to know what comes.
func (r *run) decide(wanted bool) {
	r.wanted = wanted
	close(r.decided)
}

// answer makes an answer of why the program did not begin, once the process is gone.
// A program that would have shown that it begins has not; of another that is known
// only if it cannot have had the whole prompt.
func (r *run) answer(err error) error {
	full := err
	if r.account.trouble != "" {
		full = fmt.Errorf("%w: %s", err, r.account.trouble)
	} else if errors.Is(err, errNoBegin) {
		full = fmt.Errorf("%w: %w", err, r.process.Err())
	}
	if r.account.begun || !r.a.preset.early && <-r.hadAll {
		return adapter.Unconfirm(full)
	}
	return adapter.Because(adapter.ErrGone, full)
}
