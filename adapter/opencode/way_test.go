package opencode_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// A way leads to opencode. It can be closed, swallow the prompts, and be watched.
type way struct {
	http                        *httptest.Server
	closed, swallows, swallowed atomic.Bool

	mu       sync.Mutex
	requests int
	watcher  func(request int, answered bool)
}

func startWay(t *testing.T, to string) *way {
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	w := &way{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	w.http = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if w.closed.Load() {
			panic(http.ErrAbortHandler)
		}
		if w.swallows.Load() && strings.HasSuffix(r.URL.Path, "/prompt_async") {
			_, _ = io.Copy(io.Discard, r.Body)
			w.swallowed.Store(true)
			<-r.Context().Done()
			return
		}
		w.lead(proxy, rw, r)
	}))
	t.Cleanup(func() {
		w.http.CloseClientConnections()
		w.http.Close()
	})
	return w
}

// lead tells the watcher that a request came, whose body is whole, and then that opencode
// has answered it, before the client learns of the answer. A client that is gone
// by then does not take the request away from opencode.
func (w *way) lead(proxy http.Handler, rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	n, watcher := w.requests, w.watcher
	w.requests++
	w.mu.Unlock()
	if watcher == nil {
		proxy.ServeHTTP(rw, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	watcher(n, false)
	r = r.Clone(context.WithoutCancel(r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	proxy.ServeHTTP(answer, r)
	watcher(n, true)
	for name, values := range answer.Header() {
		rw.Header()[name] = values
	}
	rw.WriteHeader(answer.Code)
	_, _ = rw.Write(answer.Body.Bytes())
}

// watch has the requests from now on told to the watcher, counted from 0.
func (w *way) watch(watcher func(request int, answered bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests, w.watcher = 0, watcher
}
