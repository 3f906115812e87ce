package oneshot

import (
	"github.com/docket-go/docket/adapter/host"
	"github.com/docket-go/docket/lock/step"
)

// enoughDoubts is how many make a conversation count as lost.
const enoughDoubts = 2

// known returns the id of the conversation to go on with, or "". Lost says that there
// is one that programs seem to fail at: one prompt tries without it, so that not all
// fail for ever.
func (a *Agent) known() (id string, lost bool, err error) {
	if a.options.Store == nil {
		return "", false, nil
	}
	if id, err = a.options.Store.Load(a.dir); err != nil || id == "" {
		return "", false, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if id != a.suspect || a.doubts < enoughDoubts {
		return id, false, nil
	}
	a.doubts = 0
	return "", true, nil
}

// A spending is what a conversation has cost when its last process ended.
type spending struct {
	session string
	usage   *host.Usage // nil if that process did not tell
}

// past returns what is known of a conversation, or of none.
func (a *Agent) past(id string) past {
	a.mu.Lock()
	defer a.mu.Unlock()
	if id == "" || id != a.spent.session {
		return past{goesOn: id != ""}
	}
	return past{goesOn: true, spent: a.spent.usage}
}

// doubt notes that a program ended without a sign when it was to go on with that
// conversation. One that failed soon says more than one that had lived a while.
func (a *Agent) doubt(id string, doubts int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if id != a.suspect {
		a.suspect, a.doubts = id, 0
	}
	a.doubts += doubts
}

// keep stores the id of the conversation that a program has begun or gone on with. It
// is called for one process at a time.
func (a *Agent) keep(id, before string) error {
	var err error
	if a.options.Store != nil && id != before {
		err = a.options.Store.Save(a.dir, id)
		step.At("adapter/oneshot: conversation is stored")
	}
	a.mu.Lock()
	news := a.told != id
	a.told, a.doubts = id, 0
	a.mu.Unlock()
	if news {
		a.seat.Publish(host.State{Name: StateSession, Value: id})
	}
	return err
}
