package turns

import (
	"errors"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/turn"
)

// about adds the turn that the broker works on, or worked on last, to the attributes of
// a line.
func (r *Recorder) about(attrs ...any) []any {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.turn != nil {
		attrs = append(attrs, "turn", r.turn.ID(), "mid", r.turn.MID())
	}
	return attrs
}

// tellOver logs the end of a turn, as the log has it.
func (r *Recorder) tellOver(t *turn.Turn, over turn.Event) {
	f, ok := over.Payload.(turn.Finished)
	if !ok {
		return
	}
	r.options.Logger.Info("turn is over", "turn", t.ID(), "end", f.String(), "diagnostic", f.Diagnostic, "mid", t.MID())
}

// tellPass logs why a pass ended, which is tried again.
func (r *Recorder) tellPass(err error) {
	attrs := []any{"error", err}
	if ended := (*dispatch.PassError)(nil); errors.As(err, &ended) && ended.MID != "" {
		attrs = append(attrs, "mid", ended.MID)
	}
	r.options.Logger.Info("pass ended", attrs...)
}
