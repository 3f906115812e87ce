package metrics

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/debts"
	"github.com/docket-go/docket/timeline/session"
)

// What [Options] means where it does not say otherwise.
const (
	DefaultFresh   = time.Second
	DefaultTimeout = time.Minute
)

// ContentType is that of the text form.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Options configures a [Handler]. Store is required.
type Options struct {
	// Store is what the gauges are about.
	Store *session.Store

	// Counters are those of this process; see [dispatch.Options]. Nil means that all
	// counters are 0.
	Counters *dispatch.Counters

	// Oldest is how many sessions are named, those with the oldest debts. Zero means
	// [debts.DefaultOldest]; a negative value means none.
	Oldest int

	// Fresh is how old the gauges may be; on a store where a look takes long, nine times
	// as old as that, up to a minute. Zero means [DefaultFresh]; a negative value means
	// that each scrape looks at the store.
	Fresh time.Duration

	// Timeout bounds one look at the store, which outlasts the request that began it.
	// Zero means [DefaultTimeout]; a negative value means no bound.
	Timeout time.Duration

	// Now is the clock. Nil means time.Now.
	Now func() time.Time
}

// A Handler serves the metrics. It is safe for concurrent use.
type Handler struct {
	o       Options
	metrics []Metric

	mu     sync.Mutex
	making chan struct{} // closed when the survey that is being made is there; nil if none is
	survey debts.Survey
	err    error
	until  time.Time // the survey is fresh
}

// New returns a Handler. It reads nothing yet.
func New(o Options) *Handler {
	o.Fresh = cmp.Or(o.Fresh, DefaultFresh)
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Counters == nil {
		o.Counters = &dispatch.Counters{}
	}
	return &Handler{o: o, metrics: All()}
}

// ServeHTTP answers one scrape, at any path.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this path takes GET and HEAD only", http.StatusMethodNotAllowed)
		return
	}
	var text bytes.Buffer
	for m, samples := range h.read(r.Context()) {
		fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s %s\n", m.Name, m.Help, m.Name, m.Type)
		for _, s := range samples {
			text.WriteString(m.Name)
			if m.Label != "" {
				fmt.Fprintf(&text, `{%s="%s"}`, m.Label, escaped.Replace(s.label))
			}
			fmt.Fprintf(&text, " %s\n", number(s.value))
		}
	}
	w.Header().Set("Content-Type", ContentType)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Length", strconv.Itoa(text.Len()))
	if r.Method == http.MethodGet {
		w.Write(text.Bytes()) // who has gone away needs no error
	}
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// A Var is the metrics as a variable of package expvar.
type Var struct{ h *Handler }

// Var returns the variable, for [expvar.Publish].
func (h *Handler) Var() Var { return Var{h} }

// String returns the metrics as one JSON object.
func (v Var) String() string {
	object := map[string]any{}
	for m, samples := range v.h.read(context.Background()) {
		if m.Label == "" {
			for _, s := range samples {
				object[m.Name] = s.value
			}
			continue
		}
		by := map[string]float64{}
		for _, s := range samples {
			by[s.label] = s.value
		}
		object[m.Name] = by
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // names and finite numbers always marshal
	}
	return string(text)
}
