// Package race makes several contestants do the same work side by side, and says
// how fast each one was.
//
// # What it keeps
//
// Nothing but the figures of the run that is under way. Contestants keep their
// files in the directories that they are given.
//
// # Guarantees
//
// A round of one contestant is followed by a round of the next, A B C A B C …, so
// that what else the machine does meets all of them. A ratio is taken within one
// round and never between rounds; the ratio of a run is the median of those.
// Before the first round that counts, each contestant works until it is warm, and
// after the last one it has to prove that all its work was really done: a figure of
// one that did not is never returned.
//
// # Crashes
//
// A process that dies leaves the directories of its contestants behind.
//
// # Format
//
// [Result.Print] writes a table for people, [Result.Lines] one JSON object a line.
package race

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"time"
)

// ErrAbsent is what the Open of a [Contestant] returns, wrapped with the reason,
// when the machine lacks what it needs. The race is run without it.
var ErrAbsent = errors.New("absent")

// A Workload is one kind of work and those who do it.
type Workload struct {
	Name  string // as people choose it
	About string // one line: what one operation is, and what is promised when it is done
	Unit  Unit   // of the figures
	Limit string // the contestant whose figure the ratios are taken of; empty means none

	// Rounds replaces the Rounds of [Options] where one round takes long.
	Rounds int

	Contestants []Contestant
	Targets     []Target
}

// A Contestant does a workload in its own way.
type Contestant struct {
	Name string

	// Batch is the number of operations in a round. Zero means as many as fill
	// the time that [Options] gives to a round, and at least Least.
	Batch, Least int

	// Open makes the contestant ready in dir, an empty directory of its own.
	Open func(ctx context.Context, dir string) (*Runner, error)
}

// A Runner is a contestant that is ready. Either Round or Measure must be there.
type Runner struct {
	// Prepare makes a round of n operations possible. Its time does not count.
	Prepare func(n int) error

	// Round does n operations. Its time is what counts.
	Round func(n int) error

	// Measure takes the place of Round where the figure is something else than the
	// time of the whole: it does n operations and returns the figure of one.
	Measure func(n int) (float64, error)

	// Check must return an error unless all n operations of the run, those before the
	// first round included, were really done.
	Check func(n int) error

	Close func() error
}

// Options say how long a race takes.
type Options struct {
	Dir    string        // where the contestants keep their files
	Rounds int           // that count
	Round  time.Duration // how long one round of one contestant takes, about

	// Settle is called before each workload, to let the machine finish what the one
	// before has left. Nil means that nothing is done.
	Settle func()
}

// A lane is one contestant's part of a running race.
type lane struct {
	contestant Contestant
	runner     *Runner
	batch      int
	done       int       // operations so far
	figures    []float64 // one a round
	absent     error     // why it does not take part
}

// Run races the contestants. Nil promises that each one proved its work. The error
// names the contestant that failed; what they had opened is closed then.
func (w Workload) Run(ctx context.Context, o Options) (result Result, err error) {
	if o.Settle != nil {
		o.Settle()
	}
	if w.Rounds > 0 {
		o.Rounds = min(w.Rounds, o.Rounds)
	}
	lanes := make([]*lane, len(w.Contestants))
	defer func() {
		for _, l := range lanes {
			if l != nil {
				err = errors.Join(err, w.label(ctx, l, notCounting, l.close))
			}
		}
	}()
	for i, c := range w.Contestants {
		lanes[i] = &lane{contestant: c, batch: c.Batch}
		if err := w.label(ctx, lanes[i], notCounting, func() error { return lanes[i].open(ctx, w, o) }); err != nil {
			return Result{}, err
		}
	}
	for range o.Rounds {
		for _, l := range lanes {
			err := w.label(ctx, l, notCounting, func() error { return l.prepare(ctx, l.batch) })
			if err == nil {
				err = w.label(ctx, l, "", l.round)
			}
			if err != nil {
				return Result{}, err
			}
		}
	}
	for _, l := range lanes {
		if err := w.label(ctx, l, notCounting, l.check); err != nil {
			return Result{}, err
		}
	}
	return w.result(lanes), nil
}

// notCounting marks in a profile what a contestant does outside of its rounds.
const notCounting = " (not counting)"

// label runs f for a lane that takes part, so that a CPU profile and an error say
// for whom. The label in the profile has no commas, which go tool pprof takes for
// the ends of its patterns.
func (w Workload) label(ctx context.Context, l *lane, suffix string, f func() error) (err error) {
	if l.absent != nil {
		return nil
	}
	name := strings.ReplaceAll(l.contestant.Name, ",", "") + suffix
	pprof.Do(ctx, pprof.Labels("workload", w.Name, "contestant", name), func(context.Context) { err = f() })
	if err != nil {
		return fmt.Errorf("%s: %s: %w", w.Name, l.contestant.Name, err)
	}
	return nil
}

// open makes the contestant ready and warm, and finds out how many operations fill
// a round.
func (l *lane) open(ctx context.Context, w Workload, o Options) error {
	dir, err := os.MkdirTemp(o.Dir, "run-")
	if err != nil {
		return err
	}
	l.runner, err = l.contestant.Open(ctx, filepath.Clean(dir))
	if errors.Is(err, ErrAbsent) {
		l.absent = err
		return nil
	}
	if err != nil {
		return err
	}
	if l.contestant.Batch > 0 {
		_, err := l.warm(ctx, l.contestant.Batch)
		return err
	}
	return l.calibrate(ctx, o.Round)
}

// calibrate doubles the operations until they take about the time of a round. Each
// number is tried twice, so that one disturbance does not decide.
func (l *lane) calibrate(ctx context.Context, round time.Duration) error {
	for n := max(1, l.contestant.Least); ; n *= 2 {
		took, err := l.warm(ctx, n)
		if err == nil && took >= round/2 {
			var again time.Duration
			again, err = l.warm(ctx, n)
			took = min(took, again)
		}
		if err != nil {
			return err
		}
		if took >= round/2 || n >= 1<<24 {
			l.batch = max(1, l.contestant.Least, int(float64(n)*float64(round)/float64(max(took, 1))))
			return nil
		}
	}
}

// round is one round that counts.
func (l *lane) round() error {
	figure, _, err := l.do(l.batch)
	l.figures = append(l.figures, figure)
	return err
}

// warm is a round that does not count.
func (l *lane) warm(ctx context.Context, n int) (took time.Duration, err error) {
	if err := l.prepare(ctx, n); err != nil {
		return 0, err
	}
	_, took, err = l.do(n)
	return took, err
}

// prepare makes n operations possible. The garbage of the contestants before is
// collected, so that it is not paid for by this one.
func (l *lane) prepare(ctx context.Context, n int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.runner.Prepare != nil {
		if err := l.runner.Prepare(n); err != nil {
			return err
		}
	}
	runtime.GC()
	return nil
}

// do makes n operations, and returns the figure of one and the time of all.
func (l *lane) do(n int) (figure float64, took time.Duration, err error) {
	begun := time.Now()
	if l.runner.Measure != nil {
		figure, err = l.runner.Measure(n)
		took = time.Since(begun)
	} else {
		err = l.runner.Round(n)
		took = time.Since(begun)
		figure = float64(took) / float64(n)
	}
	l.done += n
	return figure, took, err
}

func (l *lane) check() error {
	if l.runner.Check == nil {
		return nil
	}
	return l.runner.Check(l.done)
}

func (l *lane) close() error {
	if l.runner == nil || l.runner.Close == nil {
		return nil
	}
	return l.runner.Close()
}
