package main

import (
	"fmt"
	"io"
	"time"
)

// patience is how long a verb may run before it says how far it is.
const patience = 2 * time.Second

// A progress says on a terminal how far a long verb is. Elsewhere it is silent.
type progress struct {
	w     io.Writer // nil where nobody looks
	verb  string
	total int
	since time.Time
	shown bool
}

func newProgress(w io.Writer, verb string, total int) *progress {
	p := &progress{verb: verb, total: total, since: time.Now()}
	if total > 1 && isTerminal(w) {
		p.w = w
	}
	return p
}

// at says that the session with that place is next.
func (p *progress) at(i int, id string) {
	if p.w == nil || time.Since(p.since) < patience {
		return
	}
	p.shown = true
	fmt.Fprintf(p.w, "\r\x1b[K%s: %d of %d: %s", p.verb, i+1, p.total, id)
}

// end removes what at wrote.
func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
