package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/adapter/oneshot"
	"github.com/docket-go/docket/timeline/session"
)

// hostWait bounds the wait for one host to answer.
const hostWait = 2 * time.Second

// adapter looks whether the session's adapter is one that there is, and at its host.
func (e *examination) adapter(s *session.Session, rec session.Record) {
	if len(e.Kinds) > 0 && rec.Adapter != "" {
		if _, err := e.Kinds.Kind(rec.Adapter); err != nil {
			e.about(Finding{Check: "adapter", Level: Problem, Session: s.ID(),
				Text: fmt.Sprintf("its adapter %q is not built in, so that nothing is delivered", rec.Adapter), Do: "docket set " + s.ID() + " --adapter NAME, with one of docket adapters"})
		}
	}
	if slices.Contains(e.Hosted, rec.Adapter) {
		e.host(s, rec.Adapter)
	}
}

// host asks the session's host what it is doing.
func (e *examination) host(s *session.Session, kind string) {
	ctx, cancel := context.WithTimeout(e.ctx, hostWait)
	defer cancel()
	state, err := host.NewClient(s.Dir()).Probe(ctx)
	t := &e.tally.hosts
	t.all++
	f := Finding{Check: "host", Level: Problem, Session: s.ID(), Do: hostCommand(s.ID(), kind)}
	switch {
	case errors.Is(err, host.ErrDied):
		t.missing++
		f.Text = "its last host was killed, and nobody has started another one"
	case errors.Is(err, host.ErrNoHost):
		t.missing++
	case state == adapter.Idle:
		t.idle++
	case state == adapter.Busy:
		t.busy++
	case err != nil:
		f.Text = "its host cannot take prompts: " + err.Error()
	default:
		f.Text = "its host is " + state.String()
	}
	if f.Text != "" {
		e.about(f)
	}
	if who, owes := e.tally.adapters[s.ID()]; owes {
		who.host = err
		e.tally.adapters[s.ID()] = who
	}
}

// hostCommand starts the host of a session.
func hostCommand(id, kind string) string {
	if kind == oneshot.Kind.Name {
		return "docket host " + id + " --as PROGRAM"
	}
	return "docket host " + id + " -- CMD"
}

// hosts says how many sessions have a host.
func (e *examination) hosts() {
	t := e.tally.hosts
	switch {
	case t.all == 0:
	case t.missing > 0:
		e.note("host", "", "%d of %d sessions whose agent needs a host have none; %d idle, %d at work", t.missing, t.all, t.idle, t.busy)
	default:
		e.ok("host", "%d idle, %d at work", t.idle, t.busy)
	}
}
