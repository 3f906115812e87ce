package httpread

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/docket-go/docket/timeline/session"
)

// A Handler serves a store. It is safe for concurrent use. Its paths begin with
// /api/, and the page is at /; mount it with [http.StripPrefix] below another path.
type Handler struct {
	o       Options
	mux     *http.ServeMux
	hosts   []string
	streams *semaphore.Weighted

	open context.Context // ends with Close
	end  context.CancelFunc
}

// New returns a Handler. It reads nothing yet. The error says which option cannot
// be used.
func New(o Options) (*Handler, error) {
	if o.Store == nil {
		return nil, errors.New("httpread: Options.Store is missing: give the store that is to be shown")
	}
	if o.Token != "" {
		if err := checkToken(o.Token); err != nil {
			return nil, err
		}
	}
	h := &Handler{o: o.filled(), mux: http.NewServeMux()}
	for _, host := range o.Hosts {
		h.hosts = append(h.hosts, strings.ToLower(host))
	}
	h.streams = semaphore.NewWeighted(int64(h.o.MaxStreams))
	h.open, h.end = context.WithCancel(context.Background())
	for _, r := range routes {
		h.mux.HandleFunc(r.path, h.route(r))
	}
	return h, nil
}

// Close ends all streams, whose clients can resume elsewhere, and refuses new ones.
// Other requests are served on.
func (h *Handler) Close() { h.end() }

// Server returns a server for h with bounds on everything that a client can keep
// waiting. Its Shutdown closes h.
func (h *Handler) Server() *http.Server {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       h.o.Timeout,
		WriteTimeout:      2 * h.o.Timeout, // streams set their own
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    64 << 10,
		ConnState:         noteState,
		ErrorLog:          slog.NewLogLogger(h.o.Logger.Handler(), slog.LevelWarn),
	}
	s.RegisterOnShutdown(h.Close)
	return s
}

// A route is one path and what answers its methods. A GET answers HEAD too.
type route struct {
	path   string
	method string
	serve  func(h *Handler, w http.ResponseWriter, r *http.Request) error
	stream bool // it has no end, and no timeout
}

// pagePath is also that of everything that is nowhere else.
const pagePath = "/"

var routes = []route{
	{path: "/api/openapi.json", method: http.MethodGet, serve: (*Handler).description},
	{path: "/api/sessions", method: http.MethodGet, serve: (*Handler).sessions},
	{path: "/api/sessions/{id}", method: http.MethodGet, serve: (*Handler).session},
	{path: "/api/sessions/{id}/timeline", method: http.MethodGet, serve: (*Handler).timeline},
	{path: "/api/sessions/{id}/pending", method: http.MethodGet, serve: (*Handler).pending},
	{path: "/api/sessions/{id}/states", method: http.MethodGet, serve: (*Handler).states},
	{path: "/api/sessions/{id}/events", method: http.MethodGet, serve: (*Handler).events, stream: true},
	{path: "/api/sessions/{id}/input", method: http.MethodPost, serve: (*Handler).input},
	{path: "/api/events", method: http.MethodGet, serve: (*Handler).fleet, stream: true},
	{path: pagePath, method: http.MethodGet, serve: (*Handler).page},
}

func (h *Handler) route(rt route) http.HandlerFunc {
	allowed := []string{rt.method}
	if rt.method == http.MethodGet && !rt.stream {
		allowed = append(allowed, http.MethodHead)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if err := h.authorize(r); rt.path != pagePath && err != nil {
			h.fail(w, r, err)
			return
		}
		if !slices.Contains(allowed, r.Method) {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			h.fail(w, r, refuse(http.StatusMethodNotAllowed, "method", "this path takes %s only", strings.Join(allowed, " and ")))
			return
		}
		if !rt.stream {
			ctx, cancel := context.WithTimeout(r.Context(), h.o.Timeout)
			defer cancel()
			r = r.WithContext(ctx)
		}
		if err := rt.serve(h, w, r); err != nil {
			h.fail(w, r, err)
		}
	}
}

// ServeHTTP answers one request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t := &tracked{ResponseWriter: w}
	defer h.recovered(t, r)
	protect(w.Header())
	if err := h.admit(r); err != nil {
		h.fail(t, r, err)
		return
	}
	h.mux.ServeHTTP(t, r)
}

// recovered turns a panic into an answer, or cuts an answer off that has begun.
func (h *Handler) recovered(t *tracked, r *http.Request) {
	switch reason := recover(); {
	case reason == nil:
		return
	case reason == http.ErrAbortHandler:
		panic(reason)
	default:
		h.o.Logger.Error("panic", "method", r.Method, "path", r.URL.Path, "reason", reason, "stack", string(debug.Stack()))
	}
	if t.begun {
		panic(http.ErrAbortHandler)
	}
	writeJSON(t, http.StatusInternalServerError, problem{internalSay, "internal"})
}

// tracked knows whether an answer has begun.
type tracked struct {
	http.ResponseWriter
	begun bool
}

func (t *tracked) WriteHeader(status int) {
	t.begun = true
	t.ResponseWriter.WriteHeader(status)
}

func (t *tracked) Write(b []byte) (int, error) {
	t.begun = true
	return t.ResponseWriter.Write(b)
}

// Unwrap is for [http.ResponseController].
func (t *tracked) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// opened calls f with the session that the path names.
func (h *Handler) opened(r *http.Request, f func(s *session.Session) error) error {
	s, err := h.o.Store.Open(r.PathValue("id"))
	if err != nil {
		return err
	}
	defer s.Release()
	return f(s)
}
