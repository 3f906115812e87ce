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

// admit returns nil for a request that may be looked at.
func (h *Handler) admit(r *http.Request) error {
	if !h.knows(r.Host) {
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

// knows reports whether a Host header names this server.
func (h *Handler) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	if host == "localhost" || slices.Contains(h.hosts, host) {
		return true
	}
	a, err := netip.ParseAddr(host)
	return err == nil && a.Unmap().IsLoopback()
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
