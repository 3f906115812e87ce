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
			case m.Label != "" && h.o.Oldest < 0:
			default:
				samples = m.gauge(survey)
			}
			if !yield(m, samples) {
				return
			}
		}
	}
}

// look returns a survey that is fresh enough, or why there is none. It waits for one
// that is being made, unless ctx ends first.
func (h *Handler) look(ctx context.Context) (debts.Survey, error) {
	if wait := h.begin(); wait != nil {
		select {
		case <-wait:
		case <-ctx.Done():
			return debts.Survey{}, ctx.Err()
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.survey, h.err
}

// begin returns what is closed when a survey is there that is fresh enough; nil means
// that it is. A survey outlasts the request that began it: on a store that takes longer
// than a scraper waits, the next scrape has it.
func (h *Handler) begin() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.making != nil:
	case h.o.Now().Before(h.until):
		return nil
	default:
		h.making = make(chan struct{})
		go h.take()
	}
	return h.making
}

// take makes one survey.
func (h *Handler) take() {
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if h.o.Timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, h.o.Timeout)
	}
	defer cancel()
	oldest := h.o.Oldest
	if oldest < 0 {
		oldest = 1 // its age is told, if not whose it is
	}
	survey, err := debts.Take(ctx, h.o.Store, debts.Options{Oldest: oldest, Now: h.o.Now})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.survey, h.err = survey, err
	if h.o.Fresh > 0 {
		h.until = h.o.Now().Add(max(h.o.Fresh, min(slower*survey.Took, time.Minute)))
	}
	close(h.making)
	h.making = nil
}
