package httpread_test

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/httpread"
	"github.com/docket-go/docket/timeline/httpread/browsertest"
	"github.com/docket-go/docket/timeline/session"
)

const (
	live = "document.getElementById('link').dataset.state === 'live'"
	said = "document.getElementById('log').innerText"
)

// told has a conversation in it, and sessions around it.
func told(t *testing.T, change ...func(*httpread.Options)) (*fixture, *session.Session) {
	t.Helper()
	f := begin(t, change...)
	s := f.make("worker-1")
	at := now.Add(-26 * time.Hour)
	f.append(s,
		timeline.Sent{Time: at, MID: "q1", Text: "Please make the tests of the parser pass, and keep its public surface as it is.", ReplyVia: timeline.Note},
		timeline.Status{Time: at.Add(time.Minute), Status: "active", Note: "Reading the parser and its tests."},
		timeline.Status{Time: at.Add(9 * time.Minute), Status: "awaiting", Proposal: "merge", Note: "All 214 tests pass.\n\n- the lexer kept a position that was one byte off\n- two tests asked for that mistake, and are right now\n\nShall I merge it?"},
		timeline.Sent{Time: now, MID: "q2", Text: "Which two tests?"},
		timeline.Sent{Time: now, MID: "q3", Text: "The linter's run is at an end: nothing found.", From: "worker-2"},
	)
	f.declare(s, "active", "", "TestOffsets and TestTabs: both compared with the position behind the tab.")
	f.ended["q1"] = httpread.State{State: "delivered", EndedAt: now}
	f.ended["q2"] = httpread.State{State: "delivered", EndedAt: now}
	f.owed["worker-1"] = []httpread.Owed{{MID: "q3", Text: "x", State: "owed", Attempts: 2, LastError: "the agent is busy"}}
	f.declare(f.make("worker-2"), "awaiting", "nothing", "The linter has nothing to say.")
	f.declare(f.make("release-notes"), "awaiting", "close", "Written, and read by nobody yet.")
	f.make("idle")
	return f, s
}

// It is long because it is one browser, which takes a while to start.
func TestPage(t *testing.T) {
	b := browsertest.Launch(t)
	for name, test := range map[string]func(*testing.T, *browsertest.Browser){
		"sends and lives":     pageSends,
		"reconnects":          pageReconnects,
		"on a phone":          pageOnAPhone,
		"hostile text":        pageHostile,
		"searches":            pageSearches,
		"shows what is early": pageEarlier,
		"asks for a token":    pageToken,
		"is labelled":         pageLabels,
		"a closed session":    pageClosed,
		"says where it is":    pageStates,
		"only reads":          pageReadOnly,
		"says who needs it":   pageNeeds,
		"quotes commands":     pageQuotes,
		"a damaged session":   pageDamaged,
		"no such session":     pageNoSuch,
	} {
		t.Run(name, func(t *testing.T) { test(t, b) })
	}
}

func pageSends(t *testing.T, b *browsertest.Browser) {
	f, s := told(t)
	p := b.Open(t, f.url, 1200, 800)
	p.Until("document.querySelectorAll('#list a').length === 4 && " + live)
	p.Shoot("list")
	p.Eval("document.querySelector('#list a[data-id=worker-1]').click()")
	p.Until(said + ".includes('Which two tests?') && document.querySelectorAll('.state[data-state=delivered]').length === 2")
	p.Until("document.querySelector('.state[data-state=owed]')?.textContent === 'owed, 2 attempts: the agent is busy'")
	p.Shoot("conversation-light")
	p.Dark(true)
	p.Shoot("conversation-dark")

	p.Eval("document.getElementById('text').focus()")
	p.Type("Good: merge it.")
	p.Press("Enter", 13, 2)
	p.Until("[...document.querySelectorAll('.entry.sent')].at(-1).innerText.includes('Good: merge it.')")
	p.Until("document.getElementById('text').value === ''")
	page := f.page("/api/sessions/worker-1/timeline?limit=1")
	if e := page.Events[0]; e.Text != "Good: merge it." || e.From != "" || len(f.keys) != 1 {
		t.Errorf("got %+v with %d keys, want one keyed message of a human", e, len(f.keys))
	}
	p.Until("[...document.querySelectorAll('.entry.sent')].at(-1).innerText.includes('answer by note')")
	f.deliver("worker-1")
	p.Until("[...document.querySelectorAll('.state')].every((e) => e.dataset.state === 'delivered')")
	f.make("new-one")
	p.Until("document.querySelector('#list a[data-id=new-one]')")
	f.declare(s, "awaiting", "nothing", "It is merged.")
	p.Until("[...document.querySelectorAll('.entry')].at(-1).innerText.includes('It is merged.')")
	p.Until("document.querySelector('#meta .pill').textContent === 'done'")
	p.Shoot("answered-dark")
	p.Quiet()
}

// What was said while the server was away is shown when it is back, each once.
func pageReconnects(t *testing.T, b *browsertest.Browser) {
	f, s := told(t)
	stop, address := listen(t, f, "127.0.0.1:0")
	p := b.Open(t, "http://"+address+"/#/s/worker-1", 1000, 700)
	p.Until(said + ".includes('TestOffsets') && " + live)
	stop()
	p.Until("document.getElementById('link').dataset.state === 'wait'")
	p.Eval("document.getElementById('text').focus()")
	p.Type("said while it is away")
	p.Press("Enter", 13, 2)
	p.Until("!document.getElementById('notice').hidden")
	p.Shoot("away")
	f.numbered(s, 0, 3)
	listen(t, f, address)
	p.Until(said + ".includes('text 2') && " + live)
	p.Press("Enter", 13, 2)
	p.Until(said + ".includes('said while it is away')")
	f.numbered(s, 3, 1)
	p.Until(said + ".includes('text 3')")
	for _, text := range []string{"text 0", "text 1", "text 2", "text 3", "said while it is away", "TestOffsets"} {
		if n := p.Eval(fmt.Sprintf("%s.split(%q).length - 1", said, text)); n != "1" {
			t.Errorf("%q is shown %s times", text, n)
		}
	}
}

// listen serves f at the address until stop.
func listen(t *testing.T, f *fixture, address string) (stop func(), at string) {
	t.Helper()
	h, err := httpread.New(httpread.Options{Store: f.store, Send: f.send, Pending: f.pending, States: f.states})
	if err != nil {
		t.Fatal(err)
	}
	var l net.Listener
	eventually(t, func() bool {
		l, err = net.Listen("tcp", address)
		return err == nil
	})
	s := h.Server()
	go s.Serve(l)
	stop = func() {
		h.Close()
		s.Close()
	}
	t.Cleanup(stop)
	return stop, l.Addr().String()
}

func pageOnAPhone(t *testing.T, b *browsertest.Browser) {
	f, _ := told(t)
	p := b.Open(t, f.url, 390, 844)
	p.Until("document.querySelectorAll('#list a').length === 4 && " + live)
	p.Shoot("phone-list")
	if p.Eval("getComputedStyle(document.getElementById('conversation')).display") != "none" {
		t.Error("list and conversation are shown at once")
	}
	p.Eval("document.querySelector('#list a[data-id=worker-1]').click()")
	p.Until("document.querySelector('.state[data-state=owed]')")
	p.Shoot("phone-conversation")
	if w := p.Eval("document.documentElement.scrollWidth"); w != "390" {
		t.Errorf("the page is %s wide, want 390", w)
	}
	small := "[...document.querySelectorAll('#open button, #open a, #open select, #open textarea')].filter((e) => e.offsetParent && !e.matches('.more') && e.getBoundingClientRect().height < 36).map((e) => e.id)"
	if got := p.Eval(small + ".join()"); got != "" {
		t.Errorf("too small for a finger: %s", got)
	}
	p.Eval("document.getElementById('back').click()")
	p.Until("getComputedStyle(document.querySelector('nav')).display !== 'none'")
	p.Quiet()
}

func pageHostile(t *testing.T, b *browsertest.Browser) {
	f := begin(t)
	s := f.make("hostile")
	evil := "<img src=x onerror=\"document.title='pwned'\"><script>document.title='pwned'</script>"
	if err := s.Update(t.Context(), func(r *session.Record) error {
		r.Title = evil
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	f.append(s,
		timeline.Sent{MID: evil, Text: evil + " \u202egnp.exe\u202c end", From: "<b>x</b>\u202e"},
		timeline.Status{Status: "awaiting", Proposal: "\"><b>", Note: "javascript:alert(1) " + strings.Repeat("w", 3000) + "\u2066" + strings.Repeat("\n", 50)},
	)
	f.owed["hostile"] = []httpread.Owed{{MID: evil, State: "owed", LastError: evil}}
	p := b.Open(t, f.url+"/#/s/hostile", 700, 800)
	p.Until("document.querySelector('.state[data-state=owed]')")
	p.Until("document.getElementById('name').textContent.startsWith('<img')")
	p.Shoot("hostile")
	if got := p.Eval("document.querySelectorAll('img, #app script, #app b b, [onerror]').length"); got != "0" {
		t.Errorf("%s elements came from text", got)
	}
	if got := p.Eval("document.title"); strings.HasPrefix(got, "pwned") {
		t.Error("a text was run")
	}
	if got := p.Eval("document.querySelector('.entry.sent .body').textContent"); got != evil+" U+202Egnp.exeU+202C end" {
		t.Errorf("got %q", got)
	}
	if got := p.Eval("document.documentElement.scrollWidth"); got != "700" {
		t.Errorf("the page is %s wide, want 700", got)
	}
	p.Quiet()
}

func pageSearches(t *testing.T, b *browsertest.Browser) {
	f, s := told(t)
	p := b.Open(t, f.url+"/#/s/worker-1", 1000, 700)
	p.Until(said + ".includes('TestOffsets')")
	p.Eval("document.getElementById('scroll').focus()")
	p.Press("/", 191, 0)
	p.Until("document.activeElement.id === 'find-text'")
	p.Type("TESTS")
	p.Until("document.getElementById('find-count').textContent === '5 of 5'")
	p.Press("Enter", 13, 0)
	p.Until("document.getElementById('find-count').textContent === '1 of 5' && document.querySelector('mark.now').closest('.entry') === document.querySelector('.entry')")
	p.Shoot("search")
	f.numbered(s, 0, 1)
	f.append(s, timeline.Sent{MID: "more", Text: "more tests"})
	p.Until("document.getElementById('find-count').textContent === '1 of 6'")
	p.Press("Escape", 27, 0)
	p.Until("document.querySelectorAll('mark').length === 0 && document.getElementById('find').hidden")
	p.Quiet()
}

func pageEarlier(t *testing.T, b *browsertest.Browser) {
	f := begin(t)
	s := f.make("long")
	for day := range 3 {
		for i := range 150 {
			f.append(s, timeline.Sent{Time: now.Add(time.Duration(day) * 24 * time.Hour), MID: fmt.Sprint("d", day, "-", i), Text: fmt.Sprintf("say %d.%03d", day, i)})
		}
	}
	p := b.Open(t, f.url+"/#/s/long", 1000, 700)
	for _, want := range []string{"200", "400", "450"} {
		p.Until("document.querySelectorAll('.entry').length === " + want)
		p.Eval("document.getElementById('earlier').click()")
	}
	p.Until("document.getElementById('earlier').hidden")
	if got := p.Eval("document.querySelectorAll('.day').length"); got != "3" {
		t.Errorf("got %s days, want 3", got)
	}
	texts := "[...document.querySelectorAll('.entry .body')].map((e) => e.textContent)"
	if got := p.Eval(texts + ".join() === " + texts + ".sort().join()"); got != "true" {
		t.Error("the messages are not in order")
	}
	p.Quiet()
}

func pageToken(t *testing.T, b *browsertest.Browser) {
	f, _ := told(t, withToken)
	p := b.Open(t, f.url+"/#/s/worker-1", 900, 700)
	p.Until("document.getElementById('ask').open && document.getElementById('ask-bad').hidden")
	p.Shoot("token")
	p.Eval("document.getElementById('token').focus()")
	p.Type("not the right token")
	p.Press("Enter", 13, 0)
	p.Until("document.getElementById('ask').open && !document.getElementById('ask-bad').hidden")
	p.Eval("document.getElementById('token').focus()")
	p.Type(token)
	p.Press("Enter", 13, 0)
	p.Until("document.querySelectorAll('#list a').length === 4 && !document.getElementById('ask').open && " + live)
	p.Until(said + ".includes('TestOffsets')")
}

// Whoever listens or uses keys finds everything by its name.
func pageLabels(t *testing.T, b *browsertest.Browser) {
	f, _ := told(t)
	p := b.Open(t, f.url+"/#/s/worker-1", 1000, 700)
	p.Until(said + ".includes('TestOffsets') && " + live)
	named := "(e) => (e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent).trim()"
	if got := p.Eval("[...document.querySelectorAll('button, input, textarea, select, a, nav, main, [role=region]')].filter((e) => !(" + named + ")(e)).map((e) => e.outerHTML).join()"); got != "" {
		t.Errorf("without a name: %s", got)
	}
	for what, selector := range map[string]string{
		"landmarks": "nav[aria-label]", "main": "main", "a language": "html[lang]", "a live log": "[role=log][aria-live=polite]",
		"a current session": "#list a[aria-current=page]", "a status": "#link[role=status]", "an alert": "[role=alert]",
	} {
		if p.Eval("document.querySelectorAll(\""+selector+"\").length > 0") != "true" {
			t.Errorf("there is no %s", what)
		}
	}
	order := []string{}
	p.Eval("document.activeElement.blur(); document.body.focus()")
	p.Eval("document.querySelector('.skip').focus()")
	for range 6 {
		p.Press("Tab", 9, 0)
		order = append(order, p.Eval("document.activeElement.id || document.activeElement.dataset.id"))
		if p.Eval("getComputedStyle(document.activeElement).outlineStyle") != "solid" {
			t.Errorf("the focus on %s is not seen", order[len(order)-1])
		}
	}
	if order[0] != "filter" || order[5] != "find-open" {
		t.Errorf("got the order %v", order)
	}
	first, second := order[1], order[2]
	p.Eval("document.querySelector('#list a').focus()")
	for _, tt := range []struct {
		key  string
		code int
		want string
	}{{"ArrowUp", 38, first}, {"ArrowDown", 40, second}, {"ArrowUp", 38, first}} {
		p.Press(tt.key, tt.code, 0)
		if got := p.Eval("document.activeElement.dataset.id"); got != tt.want {
			t.Errorf("%s: got to %s, want %s", tt.key, got, tt.want)
		}
	}
	p.Quiet()
}

func pageClosed(t *testing.T, b *browsertest.Browser) {
	f, s := told(t)
	p := b.Open(t, f.url+"/#/s/worker-1", 1000, 700)
	p.Until(said + ".includes('TestOffsets') && " + live)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Until("document.getElementById('notice').textContent.includes('no such session any more')")
	p.Until("!document.querySelector('#list a[data-id=worker-1]') && document.getElementById('composer').hidden")
	p.Shoot("closed")
}

// Each state has words and a sign of its own: a colour alone says nothing to many.
func pageStates(t *testing.T, b *browsertest.Browser) {
	f := begin(t)
	s := f.make("a")
	var mids []timeline.Entry
	for _, mid := range []string{"m1", "m2", "m3", "m4", "m5"} {
		mids = append(mids, timeline.Sent{Time: now, MID: mid, Text: "text " + mid})
	}
	f.append(s, mids...)
	f.ended["m1"] = httpread.State{State: "delivered", EndedAt: now}
	f.ended["m2"] = httpread.State{State: "revoked", EndedAt: now, Reason: "revoked"}
	f.owed["a"] = []httpread.Owed{
		{MID: "m3", State: "owed", Attempts: 1, LastError: "the agent was busy", Handing: true},
		{MID: "m4", State: "unconfirmed", Attempts: 1, LastError: "the line went dead"},
		{MID: "m5", State: "owed", Attempts: 1, LastError: "the agent is busy"},
	}
	p := b.Open(t, f.url+"/#/s/a", 900, 700)
	p.Until("document.querySelectorAll('.state:not([hidden])').length === 5")
	p.Shoot("states")
	want := "delivered|revoked|being handed over|unconfirmed: the line went dead. Nobody knows whether it arrived.|owed, 1 attempt: the agent is busy"
	if got := p.Eval("[...document.querySelectorAll('.state')].map((e) => e.textContent).join('|')"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	signs := "[...document.querySelectorAll('.state')].map((e) => getComputedStyle(e, '::before').content)"
	if got := p.Eval("new Set(" + signs + ").size"); got != "5" {
		t.Errorf("got %s different signs, want 5", got)
	}
	if got := p.Eval("[...document.querySelectorAll('.state')].filter((e) => !e.title).length"); got != "0" {
		t.Errorf("%s states have no explanation", got)
	}
	f.deliver("a")
	p.Until("[...document.querySelectorAll('.state')].slice(2).every((e) => e.textContent === 'delivered')")
	p.Quiet()
}

func pageReadOnly(t *testing.T, b *browsertest.Browser) {
	f, _ := told(t, func(o *httpread.Options) { o.Send = nil })
	p := b.Open(t, f.url+"/#/s/worker-1", 900, 700)
	p.Until(said + ".includes('TestOffsets') && document.getElementById('composer').hidden && !document.getElementById('shut').hidden")
	p.Shoot("read-only")
	p.Quiet()
}
