package httpread_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/httpread"
)

const token = "a-token-of-the-tests"

func withToken(o *httpread.Options) { o.Token = token }

// A name that somebody else points at this machine must not make a browser read it.
func TestHosts(t *testing.T) {
	f := begin(t, func(o *httpread.Options) { o.Hosts = []string{"docket.Example"} })
	for host, ok := range map[string]bool{
		"localhost": true, "localhost:1": true, "LOCALHOST:80": true, "127.0.0.1": true, "127.8.9.1:80": true, "[::1]:80": true, "[::1]": true,
		"docket.example": true, "DOCKET.example:99": true,
		"localhost:80,evil.example": false, "localhost:http": false, "[::1]:80,evil.example": false, "localhost:-1": false,
		"evil.example": false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "0.0.0.0": false, "10.0.0.1": false,
		"evil.example:80": false, "docket.example.": false, "x.docket.example": false, "[::2]": false, "2130706433": false,
	} {
		for _, path := range []string{"/api/sessions", "/"} {
			a := f.get(path, "Host: "+host)
			if ok && a.StatusCode != http.StatusOK {
				t.Errorf("%s: got %s", host, a.Status)
			}
			if !ok {
				a.refused(t, http.StatusMisdirectedRequest, "bad-host")
			}
		}
	}
}

// The number of the machine itself names it, and no other number does.
func TestTheAddressOfTheConnectionIsAHost(t *testing.T) {
	f := begin(t, withToken)
	h, err := httpread.New(httpread.Options{Store: f.store, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		to, host string
		ok       bool
	}{
		{"192.0.2.7", "192.0.2.7:80", true},
		{"::ffff:192.0.2.7", "192.0.2.7", true},
		{"2001:db8::7", "[2001:db8:0::7]:80", true},
		{"192.0.2.7", "192.0.2.8", false},
		{"192.0.2.7", "0.0.0.0", false},
		{"192.0.2.7", "192.0.2.7.evil.example", false},
	} {
		r := httptest.NewRequest("GET", "/api/sessions", nil)
		r.Host = tt.host
		r.Header.Set("Authorization", "Bearer "+token)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(tt.to), Port: 80}))
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); (w.Code == http.StatusOK) != tt.ok {
			t.Errorf("%s at %s: got %d, want it served %v", tt.host, tt.to, w.Code, tt.ok)
		}
	}
}

// What stands beside the handler is guarded as the handler is.
func TestGuard(t *testing.T) {
	f := begin(t, withToken)
	h, err := httpread.New(httpread.Options{Store: f.store, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/beside", h.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery == "panic" {
			panic("as asked")
		}
		w.Write([]byte("inside"))
	})))
	mux.Handle("/", h)
	s := httptest.NewServer(mux)
	defer s.Close()
	f.url = s.URL
	bears := "Authorization: Bearer " + token
	if a := f.get("/beside", bears); string(a.body) != "inside" || a.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("got %s %q %v", a.Status, a.body, a.Header)
	}
	f.get("/beside").refused(t, http.StatusUnauthorized, "unauthorized")
	f.get("/beside", bears, "Host: evil.example").refused(t, http.StatusMisdirectedRequest, "bad-host")
	f.get("/beside", bears, "Origin: http://evil.example").refused(t, http.StatusForbidden, "bad-origin")
	f.get("/beside", bears, "Sec-Fetch-Site: cross-site").refused(t, http.StatusForbidden, "bad-origin")
	f.get("/beside?panic", bears).refused(t, http.StatusInternalServerError, "internal")
	if a := f.get("/api/sessions", bears); a.StatusCode != http.StatusOK {
		t.Errorf("the handler itself: got %s", a.Status)
	}
}

func TestOrigins(t *testing.T) {
	f := begin(t)
	f.make("a")
	own := strings.TrimPrefix(f.url, "http://")
	for _, tt := range []struct {
		header string
		ok     bool
	}{
		{"Origin: http://" + own, true},
		{"Origin: https://" + own, true}, // behind something that speaks TLS
		{"Origin: null", false},
		{"Origin: http://evil.example", false},
		{"Origin: http://" + own + ".evil.example", false},
		{"Origin: http://localhost:1", false}, // another port is another site
		{"Origin: file://" + own, false},
		{"Sec-Fetch-Site: same-origin", true},
		{"Sec-Fetch-Site: none", true},
		{"Sec-Fetch-Site: cross-site", false},
		{"Sec-Fetch-Site: same-site", false},
	} {
		t.Run(tt.header, func(t *testing.T) {
			for _, a := range []reply{
				f.get("/api/sessions", tt.header),
				f.ask(http.MethodPost, "/api/sessions/a/input", `{"text":"x"}`, "Content-Type: application/json", tt.header),
			} {
				if tt.ok && a.StatusCode/100 != 2 {
					t.Errorf("got %s %s", a.Status, a.body)
				}
				if !tt.ok {
					a.refused(t, http.StatusForbidden, "bad-origin")
				}
			}
		})
	}
	if a := f.get("/", "Sec-Fetch-Site: cross-site"); a.StatusCode != http.StatusOK {
		t.Errorf("a link to the page: got %s", a.Status)
	}
}

func TestOnlyThisMachineIsServedWithoutAToken(t *testing.T) {
	f := begin(t)
	h, err := httpread.New(httpread.Options{Store: f.store})
	if err != nil {
		t.Fatal(err)
	}
	for remote, status := range map[string]int{
		"127.0.0.1:5": 200, "[::1]:5": 200, "[::ffff:127.0.0.1]:5": 200,
		"192.0.2.1:5": 403, "[2001:db8::1]:5": 403, "": 403, "@": 403,
	} {
		for _, path := range []string{"/api/sessions", "/"} {
			r := httptest.NewRequest("GET", "http://localhost"+path, nil)
			r.RemoteAddr = remote
			w := httptest.NewRecorder()
			if h.ServeHTTP(w, r); w.Code != status {
				t.Errorf("%q %s: got %d, want %d", remote, path, w.Code, status)
			}
		}
	}
	r := httptest.NewRequest("GET", "http://localhost/api/sessions", nil)
	r.RemoteAddr = "@"
	r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.UnixAddr{Name: "/s", Net: "unix"}))
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != 200 {
		t.Errorf("a socket in the file system: got %d", w.Code)
	}
}

func TestToken(t *testing.T) {
	f := begin(t, withToken)
	for header, ok := range map[string]bool{
		"Authorization: Bearer " + token:       true,
		"Authorization: bearer " + token:       true,
		"Authorization: Bearer " + token + "x": false,
		"Authorization: Bearer":                false,
		"Authorization: Basic " + token:        false,
		"X-Other: " + token:                    false,
	} {
		for path := range httpread.Paths() {
			if strings.Contains(path, "{id}") || path == "/api/events" {
				continue
			}
			a := f.get(path, header)
			if ok && a.StatusCode != 200 {
				t.Errorf("%s %s: got %s", path, header, a.Status)
			}
			if !ok {
				a.refused(t, http.StatusUnauthorized, "unauthorized")
				if !strings.HasPrefix(a.Header.Get("WWW-Authenticate"), "Bearer") {
					t.Errorf("got WWW-Authenticate %q", a.Header.Get("WWW-Authenticate"))
				}
			}
		}
	}
	f.get("/api/sessions?token="+token).refused(t, http.StatusUnauthorized, "unauthorized")
	if a := f.get("/"); a.StatusCode != 200 {
		t.Errorf("the page, which asks for the token: got %s", a.Status)
	}
}

func TestHeaders(t *testing.T) {
	f := begin(t)
	f.make("a")
	for _, path := range []string{"/", "/app.js", "/api/sessions", "/api/sessions/a/timeline", "/api/nothing", "/api/openapi.json"} {
		a := f.get(path)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
			"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			if got := a.Header.Get(name); got != want {
				t.Errorf("%s: got %s %q, want %q", path, name, got, want)
			}
		}
		policy := a.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
			t.Errorf("%s: got policy %q", path, policy)
		}
		for name := range a.Header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: got %s", path, name)
			}
		}
	}
}

func TestAPanicIsAnsweredAndLogged(t *testing.T) {
	var log bytes.Buffer
	f := begin(t, func(o *httpread.Options) {
		o.Pending = func(context.Context, string) ([]httpread.Owed, error) { panic("a fault of the embedder") }
		o.Logger = slog.New(slog.NewJSONHandler(&log, nil))
	})
	f.make("a")
	f.get("/api/sessions/a/pending").refused(t, 500, "internal")
	var line struct{ Msg, Path, Reason, Stack string }
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatalf("%v: %s", err, log.Bytes())
	}
	if line.Msg != "panic" || line.Reason != "a fault of the embedder" || line.Path != "/api/sessions/a/pending" || line.Stack == "" {
		t.Errorf("got %+v", line)
	}
	if a := f.get("/api/sessions/a/timeline"); a.StatusCode != 200 {
		t.Errorf("afterwards: got %s", a.Status)
	}
}

// A stream's source runs beside the request; its panic ends only that stream.
func TestAPanicOfASourceEndsItsStream(t *testing.T) {
	var log lockedBuffer
	f := begin(t)
	h, err := httpread.New(httpread.Options{Store: f.store, Logger: log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	httpread.Panicking(h).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	reply{w.Result(), w.Body.Bytes()}.refused(t, 500, "internal")
	log.wait(t, "a fault of the source")
}

func TestOptionsAreChecked(t *testing.T) {
	f := begin(t)
	for _, o := range []httpread.Options{{}, {Store: f.store, Token: "short"}, {Store: f.store, Token: "with a space in between"}} {
		if _, err := httpread.New(o); err == nil {
			t.Errorf("got a handler with %+v", o)
		}
	}
}

// An embedder mounts the handler below a path of its own; the page's own links are
// relative, so that it works there.
func TestBelowAPath(t *testing.T) {
	f := begin(t, withToken)
	f.make("a")
	h, err := httpread.New(httpread.Options{Store: f.store, Token: token})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/docket/", http.StripPrefix("/docket", h))
	s := httptest.NewServer(mux)
	defer s.Close()
	f.url = s.URL
	page := f.get("/docket/")
	if page.StatusCode != 200 || bytes.Contains(page.body, []byte(`="/`)) {
		t.Errorf("got %s %s", page.Status, page.body)
	}
	f.get("/docket/api/sessions").refused(t, http.StatusUnauthorized, "unauthorized")
	if a := f.get("/docket/api/sessions/a/timeline", "Authorization: Bearer "+token); a.StatusCode != 200 {
		t.Errorf("got %s", a.Status)
	}
}

// No spelling of a path gets around the token.
func TestSpellingsOfAPath(t *testing.T) {
	f := begin(t, withToken)
	f.make("a")
	for _, path := range []string{
		"//api/sessions", "/./api/sessions", "/x/../api/sessions", "/%61pi/sessions", "/api%2fsessions", "/api/./sessions", "/API/sessions",
		"/api/sessions/", "/api/sessions/a/../a", "/api//sessions", "/%2e/api/sessions", "/;/api/sessions",
	} {
		if a := f.get(path); a.StatusCode == 200 || bytes.Contains(a.body, []byte("Title of")) {
			t.Errorf("%s: got %s %s", path, a.Status, a.body)
		}
	}
}
