package httpread

import (
	"context"
	"iter"
	"net/http"
)

// MaxIDBytes is where the ids of the stream over all sessions end.
const MaxIDBytes = maxIDBytes

// Paths returns the method of every path of the API.
func Paths() map[string]string {
	paths := map[string]string{}
	for _, r := range routes {
		if r.path != pagePath {
			paths[r.path] = r.method
		}
	}
	return paths
}

// Panicking serves a stream whose source panics.
func Panicking(h *Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.fail(w, r, h.stream(w, r, func(context.Context) iter.Seq2[frame, error] { panic("a fault of the source") }))
	})
}

// Said is the text of a body.
func Said(b []byte) (string, error) {
	body, err := decodeSaid(b)
	if err != nil {
		return "", err
	}
	return *body.Text, nil
}
