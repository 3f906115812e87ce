package httpread_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/httpread"
	"github.com/docket-go/docket/timeline/httpread/browsertest"
)

// Who waits for a person stands first, also if something happened elsewhere later, and
// says what for.
func pageNeeds(t *testing.T, b *browsertest.Browser) {
	f := begin(t)
	doubt := f.make("lexer")
	f.append(doubt, timeline.Sent{Time: now, MID: "m1", Text: "Keep the old offsets."}, timeline.Sent{Time: now, MID: "m2", Text: "And the tabs."})
	f.owed["lexer"] = []httpread.Owed{{MID: "m1", State: "unconfirmed", Attempts: 1, LastError: "the line went dead"}, {MID: "m2", State: "owed"}}
	f.declare(f.make("planner"), "asking", "", "Which of the two schemas is the one to keep?")
	f.declare(f.make("reviewer"), "awaiting", "merge", "All 214 tests pass. Shall I merge it?")
	f.declare(f.make("importer"), "error", "", "The archive is cut off.")
	f.append(f.make("busy"), timeline.Sent{MID: "b1", Text: "Read the parser.", From: "planner"})
	f.owed["busy"] = []httpread.Owed{{MID: "b1", State: "owed", Attempts: 1, LastError: "the agent is busy"}}
	f.declare(f.make("writer"), "active", "", "Writing the notes of the release.")
	p := b.Open(t, f.url, 1200, 800)
	p.Until("document.querySelectorAll('#list a').length === 6 && " + live)
	got := p.Eval("[...document.querySelectorAll('#list h2, #list a')].map((e) => e.dataset.id ?? e.textContent).join()")
	if want := "Needs you,importer,reviewer,planner,lexer,The rest,writer,busy"; got != want {
		t.Errorf("got the list %s, want %s", got, want)
	}
	if got := p.Eval("[...document.querySelectorAll('#list a[data-id=lexer] .pill')].map((e) => e.textContent).join()"); got != "1 to decide,1 owed" {
		t.Errorf("got the pills %s", got)
	}
	p.Shoot("needs-light")
	p.Dark(true)
	p.Shoot("needs-dark")
	phone := b.Open(t, f.url, 390, 844)
	phone.Until("document.querySelectorAll('#list a').length === 6 && " + live)
	phone.Shoot("needs-phone")
	pageDecides(t, f, phone)
	p.Quiet()
	phone.Quiet()
}

// pageDecides looks at the message that somebody has to decide about.
func pageDecides(t *testing.T, f *fixture, p *browsertest.Tab) {
	p.Eval("document.querySelector('#list a[data-id=lexer]').click()")
	p.Until("document.querySelector('.choice')")
	p.Shoot("decide-phone")
	commands := "[...document.querySelectorAll('.command')].map((e) => e.textContent).join('|')"
	if got, want := p.Eval(commands), "docket confirm lexer m1|docket confirm lexer m1 --absent"; got != want {
		t.Errorf("got the commands %s, want %s", got, want)
	}
	p.Eval("document.querySelector('.command').scrollIntoView()")
	if got := p.Eval("getComputedStyle(document.querySelector('.command')).userSelect"); got != "all" {
		t.Errorf("a command is selected as %s, want it whole", got)
	}
	if got := p.Eval("document.documentElement.scrollWidth"); got != "390" {
		t.Errorf("the page is %s wide, want 390", got)
	}
	f.deliver("lexer")
	p.Until("!document.querySelector('.choice') && document.querySelectorAll('.state[data-state=delivered]').length === 2")
}

// A mid comes from other writers too: what is shown to be run is one word for a shell.
func pageQuotes(t *testing.T, b *browsertest.Browser) {
	f := begin(t)
	mid := "$(rm x);'"
	f.append(f.make("a"), timeline.Sent{Time: now, MID: mid, Text: "x"})
	f.owed["a"] = []httpread.Owed{{MID: mid, State: "unconfirmed", LastError: "x"}}
	p := b.Open(t, f.url+"/#/s/a", 900, 700)
	p.Until("document.querySelector('.choice')")
	if got, want := p.Eval("document.querySelector('.command').textContent"), `docket confirm a '$(rm x);'\'''`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	p.Quiet()
}

// What is damaged is said in the conversation, with what to do, and the server is not
// asked again and again for what it cannot read.
func pageDamaged(t *testing.T, b *browsertest.Browser) {
	var asked, listed atomic.Int64
	f, _ := told(t, func(o *httpread.Options) {
		states, pending := o.States, o.Pending
		o.States = func(ctx context.Context, id string, mids []string) (map[string]httpread.State, error) {
			asked.Add(1)
			return states(ctx, id, mids)
		}
		o.Pending = func(ctx context.Context, id string) ([]httpread.Owed, error) {
			if id == "idle" {
				listed.Add(1)
				return nil, nil
			}
			return pending(ctx, id)
		}
	})
	f.breaks(&httpread.RefusalError{Status: http.StatusInternalServerError, Code: "unreadable-queue", Say: "the session's queue cannot be read: run docket repair on the server"})
	p := b.Open(t, f.url+"/#/s/worker-1", 390, 844)
	p.Until("document.querySelectorAll('.state[data-state=unknown]:not([hidden])').length === 3 && !document.getElementById('fault').hidden")
	p.Shoot("damaged-phone")
	banner := p.Eval("document.getElementById('fault').innerText")
	if want := "This session is damaged: the session's queue cannot be read: run docket repair on the server\n\ndocket repair worker-1"; banner != want {
		t.Errorf("got %q, want %q", banner, want)
	}
	before, asks := listed.Load(), asked.Load()
	eventually(t, func() bool { p.Eval("1"); return listed.Load() > before+1 }) // longer than between two looks at states
	if n := asked.Load(); n > asks || n > 2 {
		t.Errorf("the states were asked for %d times, want it once", n)
	}
	f.breaks(nil)
	p.Until("document.getElementById('fault').hidden && document.querySelectorAll('.state[data-state=delivered]').length === 2")
	p.Until("document.querySelector('.state[data-state=owed]')")
}

// breaks makes everything but the timelines fail; nil ends that.
func (f *fixture) breaks(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = err
}

func pageNoSuch(t *testing.T, b *browsertest.Browser) {
	f := begin(t)
	f.make("a")
	p := b.Open(t, f.url+"/#/s/nosuch", 900, 700)
	p.Until("document.getElementById('notice').textContent === 'There is no session called nosuch.' && document.getElementById('composer').hidden")
	p.Shoot("nosuch")
}
