package httpread_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/httpread"
)

type list struct {
	Sessions []struct {
		ID, Title, Adapter, Status, Display, Note string
		Archived                                  bool
		Owed                                      *int
		Last                                      *struct{ TS, Kind, Display, Excerpt string }
		Fault                                     *struct{ Error, Code string }
	}
	Next   *string
	Offers []string
}

func TestSessionsAreListedWithWordOwedAndLastEvent(t *testing.T) {
	f := begin(t)
	b, a := f.make("b"), f.make("a")
	f.declare(b, "awaiting", "merge", "please look "+strings.Repeat("ä", 500))
	f.numbered(a, 0, 2)
	f.owed["a"] = []httpread.Owed{{MID: "m1", State: "owed"}}
	var l list
	f.get("/api/sessions").into(t, &l)
	if len(l.Sessions) != 2 || l.Sessions[0].ID != "a" || l.Sessions[1].ID != "b" || l.Next != nil {
		t.Fatalf("got %+v, want a and b", l)
	}
	first, second := l.Sessions[0], l.Sessions[1]
	if *first.Owed != 1 || first.Last.Kind != "sent" || first.Last.Excerpt != "text 1" || first.Title != "Title of a" || first.Adapter != "file" {
		t.Errorf("got %+v", first)
	}
	if *second.Owed != 0 || second.Display != "review" || second.Last.Display != "review" || !strings.HasSuffix(second.Note, "ä…") {
		t.Errorf("got %+v", second)
	}
	var one struct{ ID, Display string }
	if f.get("/api/sessions/b").into(t, &one); one.ID != "b" || one.Display != "review" {
		t.Errorf("got %+v", one)
	}
}

func TestSessionsComeInPages(t *testing.T) {
	f := begin(t)
	for i := range 5 {
		f.make(fmt.Sprint("s", i))
	}
	var got []string
	after := ""
	for {
		var l list
		f.get("/api/sessions?limit=2&after="+after).into(t, &l)
		for _, s := range l.Sessions {
			got = append(got, s.ID)
		}
		if l.Next == nil {
			break
		}
		after = *l.Next
	}
	if fmt.Sprint(got) != "[s0 s1 s2 s3 s4]" {
		t.Errorf("got %v", got)
	}
}

// A damaged session hides no other, and its file's place stays private.
func TestADamagedSessionIsNamed(t *testing.T) {
	f := begin(t)
	bad := f.make("bad")
	f.make("good")
	if err := os.WriteFile(filepath.Join(bad.Dir(), "session.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	a := f.get("/api/sessions")
	var l list
	a.into(t, &l)
	if len(l.Sessions) != 2 || l.Sessions[0].Fault == nil || l.Sessions[0].Fault.Code != "unreadable-record" || l.Sessions[1].Fault != nil {
		t.Errorf("got %s", a.body)
	}
	if bytes.Contains(a.body, []byte(f.store.Dir())) {
		t.Errorf("the answer names a path: %s", a.body)
	}
}

func TestTheListIsTagged(t *testing.T) {
	f := begin(t)
	s := f.make("a")
	etag := f.get("/api/sessions").Header.Get("ETag")
	if a := f.get("/api/sessions", "If-None-Match: "+etag); a.StatusCode != http.StatusNotModified || len(a.body) != 0 {
		t.Errorf("got %s %q, want 304", a.Status, a.body)
	}
	f.numbered(s, 0, 1)
	if a := f.get("/api/sessions", "If-None-Match: "+etag); a.StatusCode != http.StatusOK {
		t.Errorf("got %s after an event, want 200", a.Status)
	}
}

func TestTimelinePages(t *testing.T) {
	f := begin(t)
	f.numbered(f.make("a"), 0, 7)
	newest := f.page("/api/sessions/a/timeline?limit=3")
	if newest.mids() != "m4 m5 m6" || newest.More || !newest.Earlier {
		t.Errorf("newest: got %+v", newest)
	}
	before := f.page("/api/sessions/a/timeline?limit=3&before=" + newest.First)
	if before.mids() != "m1 m2 m3" || before.Next != newest.First || !before.More || !before.Earlier {
		t.Errorf("before: got %+v", before)
	}
	first := f.page("/api/sessions/a/timeline?limit=3&before=" + before.First)
	if first.mids() != "m0" || first.Earlier || first.Next != before.First {
		t.Errorf("first: got %+v", first)
	}
	after := f.page("/api/sessions/a/timeline?limit=3&after=start")
	if after.mids() != "m0 m1 m2" || !after.More {
		t.Errorf("start: got %+v", after)
	}
	after = f.page("/api/sessions/a/timeline?after=" + after.Next)
	if after.mids() != "m3 m4 m5 m6" || after.More || after.Next != newest.Next {
		t.Errorf("after: got %+v", after)
	}
	if end := f.page("/api/sessions/a/timeline?after=" + after.Next); len(end.Events) != 0 || end.Next != after.Next {
		t.Errorf("end: got %+v", end)
	}
}

func TestAnEmptyTimelineHasAPlace(t *testing.T) {
	f := begin(t)
	s := f.make("a")
	empty := f.page("/api/sessions/a/timeline")
	if len(empty.Events) != 0 || empty.Next == "" || empty.Earlier || empty.More {
		t.Fatalf("got %+v", empty)
	}
	f.numbered(s, 0, 1)
	if p := f.page("/api/sessions/a/timeline?after=" + empty.Next); p.mids() != "m0" {
		t.Errorf("got %+v, want what came since", p)
	}
}

// Pages end at a size too, and nothing is lost between them.
func TestLargeTextsMakeSmallPages(t *testing.T) {
	f := begin(t)
	s := f.make("a")
	for i := range 3 {
		f.append(s, timeline.Sent{MID: fmt.Sprint("m", i), Text: strings.Repeat("x", 2100<<10)})
	}
	var got []string
	after := "start"
	for more := true; more; {
		p := f.page("/api/sessions/a/timeline?after=" + after)
		if len(p.Events) != 1 {
			t.Fatalf("got %d events on one page, want 1", len(p.Events))
		}
		got, after, more = append(got, p.mids()), p.Next, p.More
	}
	if fmt.Sprint(got) != "[m0 m1 m2]" {
		t.Errorf("got %v", got)
	}
}

func TestTimelineTagStandsForOneAnswer(t *testing.T) {
	f := begin(t)
	s := f.make("a")
	f.numbered(s, 0, 3)
	a := f.get("/api/sessions/a/timeline")
	etag := a.Header.Get("ETag")
	if b := f.get("/api/sessions/a/timeline", `If-None-Match: "x", W/`+etag); b.StatusCode != http.StatusNotModified || b.Header.Get("ETag") != etag {
		t.Errorf("got %s, want 304", b.Status)
	}
	if b := f.get("/api/sessions/a/timeline?limit=2", "If-None-Match: "+etag); b.StatusCode != http.StatusOK {
		t.Errorf("another limit: got %s, want 200", b.Status)
	}
	f.numbered(s, 3, 1)
	if b := f.get("/api/sessions/a/timeline", "If-None-Match: "+etag); b.StatusCode != http.StatusOK {
		t.Errorf("after an event: got %s, want 200", b.Status)
	}
}

func TestNoPrivateFieldIsShown(t *testing.T) {
	f := begin(t)
	s := f.make("a")
	f.declare(s, "awaiting", "nothing", "a note")
	f.ask(http.MethodPost, "/api/sessions/a/input", `{"text":"hello","replyVia":"note"}`, "Content-Type: application/json", "Idempotency-Key: key-secret").into(t, &struct{}{})
	f.append(s, timeline.Settled{MID: "h1", Operation: "op-secret", RequestDigest: "digest-secret"})
	for _, path := range []string{"/api/sessions", "/api/sessions/a", "/api/sessions/a/timeline", "/api/sessions/a/pending", "/api/sessions/a/states?mid=h1"} {
		a := f.get(path)
		if a.StatusCode != http.StatusOK {
			t.Errorf("%s: got %s", path, a.Status)
		}
		for _, private := range []string{"secret", "dispatchReceipt", "docket\"", "\"crc\"", "\"seq\"", "settled", "settings"} {
			if bytes.Contains(a.body, []byte(private)) {
				t.Errorf("%s shows %s: %s", path, private, a.body)
			}
		}
	}
}

func TestPendingAndStates(t *testing.T) {
	f := begin(t)
	f.make("a")
	f.owed["a"] = []httpread.Owed{
		{MID: "m1", From: "b", Text: "one", State: "unconfirmed", EnqueuedAt: now, Attempts: 2, LastAttempt: now, LastError: "nobody there"},
		{MID: "m2", Text: "two", State: "owed", Handing: true},
	}
	f.ended["m0"] = httpread.State{State: "revoked", EndedAt: now, Reason: "not needed"}
	got := string(f.get("/api/sessions/a/pending?limit=1").body)
	want := `{"session":"a","pending":[{"mid":"m1","from":"b","text":"one","state":"unconfirmed","enqueuedAt":"2026-11-30T09:30:15.780Z",` +
		`"attempts":2,"lastAttempt":"2026-11-30T09:30:15.780Z","lastError":"nobody there","handing":false}],"total":2}` + "\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	got = string(f.get("/api/sessions/a/states?mid=m0&mid=m2&mid=m9").body)
	want = `{"session":"a","states":{"m0":{"state":"revoked","endedAt":"2026-11-30T09:30:15.780Z","reason":"not needed","attempts":0,"lastError":null,"handing":false},` +
		`"m2":{"state":"owed","endedAt":null,"reason":null,"attempts":0,"lastError":null,"handing":true}}}` + "\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}

func TestADeliveryEndsADebt(t *testing.T) {
	f := begin(t)
	f.make("a")
	f.owed["a"] = []httpread.Owed{{MID: "m1", State: "owed"}}
	etag := f.get("/api/sessions/a/pending").Header.Get("ETag")
	f.deliver("a")
	if a := f.get("/api/sessions/a/pending", "If-None-Match: "+etag); !bytes.Contains(a.body, []byte(`"pending":[],"total":0`)) {
		t.Errorf("got %s %s", a.Status, a.body)
	}
	if a := f.get("/api/sessions/a/states?mid=m1"); !bytes.Contains(a.body, []byte(`{"m1":{"state":"delivered"`)) {
		t.Errorf("got %s %s", a.Status, a.body)
	}
}

func TestReadsAreRefused(t *testing.T) {
	f := begin(t)
	f.numbered(f.make("a"), 0, 2)
	f.numbered(f.make("b"), 0, 2)
	foreign := f.page("/api/sessions/b/timeline").Next
	long := strings.Repeat("x", 300)
	for _, tt := range []struct {
		path   string
		status int
		code   string
	}{
		{"/api/sessions?limit=0", 400, "bad-limit"},
		{"/api/sessions?limit=501", 400, "bad-limit"},
		{"/api/sessions?limit=many", 400, "bad-limit"},
		{"/api/sessions?after=..", 400, "bad-after"},
		{"/api/sessions?page=2", 400, "bad-query"},
		{"/api/sessions?%zz", 400, "bad-query"},
		{"/api/sessions?limit=1&limit=5", 400, "bad-query"},
		{"/api/sessions/a/events?after=start&after=start", 400, "bad-query"},
		{"/api/sessions/none", 404, "no-session"},
		{"/api/sessions/none/timeline", 404, "no-session"},
		{"/api/sessions/none/pending", 404, "no-session"},
		{"/api/sessions/none/events", 404, "no-session"},
		{"/api/sessions/none/states?mid=m1", 404, "no-session"},
		{"/api/sessions/a/timeline?after=x", 400, "cursor-malformed"},
		{"/api/sessions/a/timeline?after=start&before=start", 400, "bad-query"},
		{"/api/sessions/a/timeline?after=", 400, "cursor-malformed"},
		{"/api/sessions/a/timeline?after=" + foreign, 409, "cursor-foreign"},
		{"/api/sessions/a/timeline?before=" + foreign, 409, "cursor-foreign"},
		{"/api/sessions/a/events?after=nonsense", 400, "cursor-malformed"},
		{"/api/sessions/a/events?after=" + foreign, 409, "cursor-foreign"},
		{"/api/sessions/a/states", 400, "bad-mid"},
		{"/api/sessions/a/states?mid=", 400, "bad-mid"},
		{"/api/sessions/a/states?mid=" + long, 400, "bad-mid"},
		{"/api/events?after=nonsense", 400, "cursor-malformed"},
		{"/api/events?match=[", 400, "bad-match"},
		{"/api/events?page=1", 400, "bad-query"},
		{"/api/nothing", 404, "no-path"},
		{"/api/sessions/a/timeline/more", 404, "no-path"},
		{"/page/index.html", 404, "no-path"},
	} {
		t.Run(tt.path, func(t *testing.T) { f.get(tt.path).refused(t, tt.status, tt.code) })
	}
}

// A cursor that was right is refused once the id belongs to a later session.
func TestACursorOfALaterLifeIsRefused(t *testing.T) {
	f := begin(t)
	s := f.make("a")
	f.numbered(s, 0, 3)
	old := f.page("/api/sessions/a/timeline").Next
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.numbered(f.make("a"), 0, 5)
	for _, name := range []string{"after", "before"} {
		f.get("/api/sessions/a/timeline?"+name+"="+old).refused(t, 409, "cursor-foreign")
	}
}

func TestHostileIDs(t *testing.T) {
	f := begin(t)
	f.make("a")
	for _, id := range []string{"..", ".", "%2e%2e", "a/../a", "a\x00", "a b", "ä", "-a", strings.Repeat("a", 129), "<script>", "a\u202e", "a\r\nX: y", `..\a`, "%00"} {
		for _, tail := range []string{"", "/timeline", "/pending", "/states?mid=m", "/events"} {
			a := f.get("/api/sessions/" + url.PathEscape(id) + tail)
			if a.StatusCode < 300 || bytes.Contains(a.body, []byte("Title of")) {
				t.Errorf("%q%s: got %s %s", id, tail, a.Status, a.body)
			}
		}
	}
	f.get("/api/sessions/"+url.PathEscape("../a")+"/timeline").refused(t, 400, "bad-id")
	f.get("/api/sessions/"+url.PathEscape("a\x00")+"/timeline").refused(t, 400, "bad-id")
}

func TestWhatIsNotGivenIsNotOffered(t *testing.T) {
	f := begin(t, func(o *httpread.Options) { o.Send, o.Pending, o.States = nil, nil, nil })
	f.make("a")
	f.get("/api/sessions/a/pending").refused(t, 501, "not-offered")
	f.get("/api/sessions/a/states?mid=m").refused(t, 501, "not-offered")
	f.ask(http.MethodPost, "/api/sessions/a/input", `{"text":"x"}`, "Content-Type: application/json").refused(t, 501, "not-offered")
	var l list
	if f.get("/api/sessions").into(t, &l); len(l.Sessions) != 1 || l.Sessions[0].Owed != nil || len(l.Offers) != 0 {
		t.Errorf("got %+v, want an owed count that nobody can tell", l)
	}
}

// An error of the embedder is answered without its words, unless it is a refusal.
func TestErrorsOfTheEmbedder(t *testing.T) {
	f := begin(t)
	f.make("a")
	f.fail = errDisk
	a := f.get("/api/sessions/a/pending")
	a.refused(t, 500, "internal")
	if bytes.Contains(a.body, []byte("secret")) {
		t.Errorf("got %s", a.body)
	}
	f.fail = fmt.Errorf("wrapped: %w", &httpread.RefusalError{Status: 418, Code: "teapot", Say: "use a kettle", Err: errDisk})
	a = f.get("/api/sessions/a/pending")
	a.refused(t, 418, "teapot")
	if bytes.Contains(a.body, []byte("secret")) {
		t.Errorf("got %s", a.body)
	}
}

func TestMethods(t *testing.T) {
	f := begin(t)
	f.make("a")
	for path, method := range httpread.Paths() {
		path = strings.ReplaceAll(path, "{id}", "a")
		for _, m := range []string{"GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
			if m == method {
				continue
			}
			a := f.ask(m, path, "")
			a.refused(t, 405, "method")
			if !strings.HasPrefix(a.Header.Get("Allow"), method) {
				t.Errorf("%s %s: got Allow %q", m, path, a.Header.Get("Allow"))
			}
		}
	}
	if a := f.ask(http.MethodHead, "/api/sessions/a/timeline", ""); a.StatusCode != 200 || len(a.body) != 0 || a.Header.Get("ETag") == "" {
		t.Errorf("HEAD: got %s %q", a.Status, a.body)
	}
}
