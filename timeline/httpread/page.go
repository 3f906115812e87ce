package httpread

import (
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed page openapi.json
var files embed.FS

// kinds are the content types of the page's files.
var kinds = sync.OnceValue(func() map[string]string {
	return map[string]string{
		".html": "text/html; charset=utf-8",
		".css":  "text/css; charset=utf-8",
		".js":   "text/javascript; charset=utf-8",
		".svg":  "image/svg+xml",
	}
})

// page serves the files of the page, which lie side by side at the root.
func (h *Handler) page(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimPrefix(r.URL.Path, "/")
	if name == "" {
		name = "index.html"
	}
	if !fs.ValidPath(name) || strings.Contains(name, "/") || name == "." {
		return errNoPath
	}
	err := serveFile(w, r, "page/"+name, kinds()[path.Ext(name)])
	if errors.Is(err, fs.ErrNotExist) {
		return errNoPath
	}
	return err
}

var errNoPath = refuse(http.StatusNotFound, "no-path", "there is nothing at this path: /api/openapi.json describes what there is")

func (h *Handler) description(w http.ResponseWriter, r *http.Request) error {
	return serveFile(w, r, "openapi.json", "application/json; charset=utf-8")
}

func serveFile(w http.ResponseWriter, r *http.Request, file, kind string) error {
	b, err := files.ReadFile(file)
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
