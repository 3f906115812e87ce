package httpread

import (
	"embed"
	"net/http"
	"path"
	"strconv"
)

//go:embed page openapi.json
var files embed.FS

// assets are the files of the page, by path.
var assets = map[string]struct{ file, kind string }{
	"/":          {"page/index.html", "text/html; charset=utf-8"},
	"/app.js":    {"page/app.js", "text/javascript; charset=utf-8"},
	"/stream.js": {"page/stream.js", "text/javascript; charset=utf-8"},
	"/style.css": {"page/style.css", "text/css; charset=utf-8"},
	"/icon.svg":  {"page/icon.svg", "image/svg+xml"},
}

func (h *Handler) page(w http.ResponseWriter, r *http.Request) error {
	a, ok := assets[r.URL.Path]
	if !ok {
		return refuse(http.StatusNotFound, "no-path", "there is nothing at this path: /api/openapi.json describes what there is")
	}
	return serveFile(w, r, a.file, a.kind)
}

func (h *Handler) description(w http.ResponseWriter, r *http.Request) error {
	return serveFile(w, r, "openapi.json", "application/json; charset=utf-8")
}

func serveFile(w http.ResponseWriter, r *http.Request, file, kind string) error {
	b, err := files.ReadFile(path.Clean(file))
	if err != nil {
		return err
	}
	if known(w, r, tag(b)) {
		return nil
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(http.StatusOK)
	w.Write(b) // a client that went away is told nothing
	return nil
}
