package httpread

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// policy lets the page load its own files and talk to its own server, and nothing
// else; scripts cannot turn text into markup.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

func protect(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// Guard returns a handler that serves next to those whom h gives data, and refuses
// everybody else as h does: for what is mounted beside h. It is safe for concurrent use
// if next is.
func (h *Handler) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &tracked{ResponseWriter: w}
		defer h.recovered(t, r)
		protect(w.Header())
		err := h.admit(r)
		if err == nil {
			err = h.authorize(r)
		}
		if err != nil {
			h.fail(t, r, err)
			return
		}
		next.ServeHTTP(t, r)
	})
}

// admit returns nil for a request that may be looked at.
func (h *Handler) admit(r *http.Request) error {
	if !h.knows(r) {
		return refuse(http.StatusMisdirectedRequest, "bad-host", "this server is not known by the name in the Host header: ask for localhost, or have the name allowed")
	}
	for _, origin := range r.Header.Values("Origin") {
		scheme, host, ok := strings.Cut(origin, "://")
		if !ok || scheme != "http" && scheme != "https" || !strings.EqualFold(host, r.Host) {
			return errForeign
		}
	}
	if h.o.Token == "" && !local(r) {
		return refuse(http.StatusForbidden, "not-local", "only this machine is served: set a token to serve others")
	}
	return nil
}

var errForeign = refuse(http.StatusForbidden, "bad-origin", "requests of other sites are not served: use the page of this server")

// authorize returns nil for a request that may have data. The page itself holds
// none, so that a link to it is followed from anywhere and it is served without the
// token, for which it asks.
func (h *Handler) authorize(r *http.Request) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return errForeign
	}
	if h.o.Token != "" && !h.bears(r) {
		return refuse(http.StatusUnauthorized, "unauthorized", "the token is missing or wrong: send it as Authorization: Bearer TOKEN")
	}
	return nil
}

// knows reports whether the Host header names this server. A number does if the
// connection came to it: no name that somebody points here makes a browser send that.
func (h *Handler) knows(r *http.Request) bool {
	host := r.Host
	if name, port, err := net.SplitHostPort(host); err == nil {
		if strings.Trim(port, "0123456789") != "" {
			return false
		}
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if host == "localhost" || slices.Contains(h.hosts, host) {
		return true
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if a = a.Unmap(); a.IsLoopback() {
		return true
	}
	to, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && to != nil && a == to.AddrPort().Addr().Unmap().WithZone(a.Zone())
}

// local reports whether the request came from this machine: over loopback, or
// through a socket in the file system.
func local(r *http.Request) bool {
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr); ok && a != nil {
		return true
	}
	a, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// bears compares digests, so that the time tells nothing of the token's text or
// length.
func (h *Handler) bears(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	got, want := sha256.Sum256([]byte(strings.TrimSpace(token))), sha256.Sum256([]byte(h.o.Token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}
