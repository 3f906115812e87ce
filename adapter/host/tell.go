package host

import (
	"context"
	"log/slog"
	"time"

	"github.com/docket-go/docket/adapter"
)

// tellPrompt logs the answer to a prompt. That the host is busy is what happens all
// the time.
func (b *Broker) tellPrompt(mid string, answer frame) {
	level := slog.LevelWarn
	switch answer.Type {
	case takenFrame:
		b.options.Logger.Info("delivered", "mid", mid)
		return
	case refusedFrame:
		if answer.Reason == reasonOf(adapter.ErrBusy) {
			level = slog.LevelDebug
		}
		b.options.Logger.Log(context.Background(), level, "refused", "mid", mid, "reason", answer.Text)
	case unconfirmedFrame:
		b.options.Logger.Log(context.Background(), level, "unconfirmed", "mid", mid, "reason", answer.Text)
	}
}

// tellUnstarted logs that the agent's program did not start.
func (b *Broker) tellUnstarted(err error, again time.Time) {
	attrs := []any{"error", err}
	if b.options.FirstBackoff > 0 {
		attrs = append(attrs, "until", again)
	}
	b.options.Logger.Warn("the agent does not start: it is tried again", attrs...)
}
