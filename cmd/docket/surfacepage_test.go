package main

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/timeline/httpread/browsertest"
)

const (
	pageLive  = "document.getElementById('link').dataset.state === 'live'"
	lastState = "[...document.querySelectorAll('.entry.sent .state')].at(-1)"
	lastEntry = "[...document.querySelectorAll('.entry')].at(-1)"
)

// fleet makes sessions in every state that the page has a word for.
func (b box) fleet() {
	b.t.Helper()
	b.agent("worker-1")
	b.must("new", "worker-2", "--title", "Speed up the lexer", "--adapter", "exec", "--set", "cmd=cat >/dev/null; kill -9 $$")
	b.must("send", "worker-2", "did this arrive?")
	for id, declared := range map[string][]string{
		"reviewer":      {"review", "--note", "Ready to merge: 3 files, 41 lines."},
		"release-notes": {"done", "--note", "Written."},
		"importer":      {"error", "--note", "The archive cannot be opened: it is cut off."},
		"planner":       {"park", "--note", "Waiting for the new schema."},
		"closer":        {"declare", "--status", "awaiting", "--proposal", "close"},
		"idler":         {"idle"},
		"asker":         {"ask", "--note", "Which of the two schemas is the one to keep?"},
	} {
		b.must("new", id)
		b.must(append([]string{declared[0], id}, declared[1:]...)...)
	}
	mid := strings.TrimSpace(b.must("send", "asker", "Keep the first one."))
	b.must("revoke", "asker", mid)
	b.must("active", "worker-1", "--note", "Reading the parser and its tests.")
}

// ownLoopback is an address of this machine of which nobody else takes a port while a
// server is away, where the system has such addresses.
func ownLoopback() string {
	if runtime.GOOS == "linux" {
		return "127.0.0.2"
	}
	return "127.0.0.1"
}

// The page of a real docket serve, in a real browser: what is sent there is recorded,
// owed, delivered and answered, and the page says so each time, live.
func TestServePage(t *testing.T) {
	t.Parallel()
	browser := browsertest.Launch(t)
	b := newBox(t)
	b.fleet()
	s := b.serve("--listen", ownLoopback()+":0")
	p := browser.Open(t, s.url, 1200, 800)
	p.Until("document.querySelectorAll('#list a').length === 9 && " + pageLive)
	p.Shoot("serve-list")
	p.Eval("document.querySelector('#list a[data-id=worker-1]').click()")
	p.Until("document.getElementById('log').innerText.includes('Reading the parser')")

	p.Eval("document.getElementById('text').focus()")
	p.Type("Please make the tests of the parser pass.\n\nKeep its public surface as it is.")
	p.Press("Enter", 13, 2)
	p.Until(lastState + ".dataset.state === 'owed' && " + lastState + ".textContent.includes('busy')")
	p.Until("document.querySelector('#meta .owed')?.textContent === '1 owed'")
	p.Shoot("serve-owed-light")
	b.wake()
	b.must("drain", "worker-1")
	p.Until(lastState + ".dataset.state === 'delivered'")
	p.Until("!document.querySelector('#meta .owed')")
	b.must("review", "worker-1", "--note", "All 214 tests pass. Shall I merge it?")
	p.Until(lastEntry + ".innerText.includes('Shall I merge') && document.querySelector('#meta .pill').textContent === 'review'")
	p.Shoot("serve-answered-light")
	p.Dark(true)
	p.Shoot("serve-answered-dark")
	p.Quiet()

	if log := b.must("log", "worker-1"); strings.Count(log, "Keep its public surface") != 1 {
		t.Errorf("got %q, want the message once", log)
	}
	at := s.address()
	s.end(syscall.SIGTERM)
	p.Until("document.getElementById('link').dataset.state !== 'live'")
	p.Shoot("serve-away-dark")
	b.must("send", "worker-1", "--from", "reviewer", "Said while the page was away.")
	b.serve("--listen", at)
	p.Until(lastEntry + ".innerText.includes('while the page was away') && " + pageLive)
	p.Until(lastState + ".dataset.state === 'delivered'")
	if got := p.Eval("document.getElementById('log').innerText.split('Shall I merge').length"); got != "2" {
		t.Errorf("an event is shown %s times less one, want once", got)
	}
}

// The same on a phone: one pane at a time, nothing wider than the screen, and states
// that need somebody are told apart by words, not by colour alone.
func TestServePageOnAPhone(t *testing.T) {
	t.Parallel()
	browser := browsertest.Launch(t)
	b := newBox(t)
	b.fleet()
	s := b.serve("--listen", "127.0.0.1:0")
	p := browser.Open(t, s.url, 390, 844)
	p.Until("document.querySelectorAll('#list a').length === 9 && " + pageLive)
	p.Shoot("serve-phone-list")
	for _, word := range []string{"working", "review", "done", "error", "parked", "close-pending", "idle", "asking"} {
		if got := p.Eval(fmt.Sprintf("document.querySelectorAll('#list .pill[data-word=%q]').length", word)); got != "1" {
			t.Errorf("%s is shown %s times, want once", word, got)
		}
	}
	p.Eval("document.querySelector('#list a[data-id=worker-2]').click()")
	p.Until(lastState + ".dataset.state === 'unconfirmed'")
	p.Shoot("serve-phone-unconfirmed")
	p.Dark(true)
	p.Shoot("serve-phone-unconfirmed-dark")
	if w := p.Eval("document.documentElement.scrollWidth"); w != "390" {
		t.Errorf("the page is %s wide, want 390", w)
	}
	p.Eval("document.getElementById('back').click()")
	p.Until("document.querySelector('#list').offsetParent")
	p.Shoot("serve-phone-list-dark")
	p.Eval("document.querySelector('#list a[data-id=asker]').click()")
	p.Until(lastState + ".dataset.state === 'revoked'")
	p.Shoot("serve-phone-revoked-dark")
	p.Quiet()
}
