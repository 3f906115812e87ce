package metrics

import (
	"context"
	"iter"
	"time"

	"github.com/docket-go/docket/dispatch/debts"
)

// slower is how many times longer than it takes a survey is kept, at least.
const slower = 9

// read yields the metrics that can be told, in order.
func (h *Handler) read(ctx context.Context) iter.Seq2[Metric, []sample] {
	survey, err := h.look(ctx)
	return func(yield func(Metric, []sample) bool) {
		for _, m := range h.metrics {
			var samples []sample
			switch {
			case m.count != nil:
				samples = []sample{{value: float64(m.count(h.o.Counters).Load())}}
			case m.Name == storeReadable && err == nil:
				samples = []sample{{value: 1}}
			case m.Name == storeReadable:
				samples = []sample{{value: 0}}
			case err != nil:
				continue
			default:
				samples = m.gauge(survey)
			}
			if !yield(m, samples) {
				return
			}
		}
	}
}

// look returns a survey that is fresh enough. One that failed is not made again
// before it would be stale, unless it failed because this caller went away.
func (h *Handler) look(ctx context.Context) (debts.Survey, error) {
	if err := h.turn.Acquire(ctx, 1); err != nil {
		return debts.Survey{}, err
	}
	defer h.turn.Release(1)
	if h.o.Now().Before(h.until) {
		return h.survey, h.err
	}
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if h.o.Timeout > 0 {
		bounded, cancel = context.WithTimeout(ctx, h.o.Timeout)
	}
	defer cancel()
	h.survey, h.err = debts.Take(bounded, h.o.Store, debts.Options{Oldest: h.o.Oldest, Now: h.o.Now})
	if ctx.Err() == nil && h.o.Fresh > 0 {
		h.until = h.o.Now().Add(max(h.o.Fresh, min(slower*h.survey.Took, time.Minute)))
	}
	return h.survey, h.err
}
