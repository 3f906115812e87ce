package metrics_test

import (
	"context"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/metrics"
	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/session"
)

// A world is a store whose one kind of agent answers as the session's name says.
type world struct {
	t        testing.TB
	dir      string
	store    *session.Store
	counters *dispatch.Counters
	*dispatch.Dispatcher
	mu  sync.Mutex
	now time.Time
}

func newWorld(t testing.TB, ids ...string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), counters: &dispatch.Counters{}, now: time.UnixMilli(1_800_000_000_000)}
	var err error
	w.store, err = session.OpenStore(w.dir, session.Options{Timeline: timeline.Options{Buffered: true}})
	if err != nil {
		t.Fatal(err)
	}
	w.Dispatcher = dispatch.New(w.store, dispatch.Options{Counters: w.counters, Now: w.time, Adapters: adapter.Registry{{
		Name: "agent",
		Open: func(s adapter.Session, _ map[string]string) (adapter.Adapter, error) { return agent(s.ID), nil },
	}}})
	t.Cleanup(func() { w.Close() })
	for _, id := range ids {
		s, err := w.store.Create(t.Context(), session.New{ID: id, Adapter: "agent"})
		if err != nil {
			t.Fatal(err)
		}
		s.Release()
	}
	return w
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

type agent string

func (agent) Headless() bool { return false }

func (a agent) Insert(context.Context, adapter.Prompt) error {
	switch a {
	case "busy":
		return adapter.ErrBusy
	case "vague":
		return errors.New("the line went dead")
	}
	return nil
}

func (w *world) send(id string) {
	w.t.Helper()
	if _, err := w.SendText(w.t.Context(), id, dispatch.Message{Text: "go"}); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) handler(o metrics.Options) *metrics.Handler {
	o.Store, o.Counters, o.Now = w.store, w.counters, w.time
	return metrics.New(o)
}

// scrape returns what h says, by name and label.
func scrape(t testing.TB, h http.Handler) map[string]float64 {
	t.Helper()
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if answer.Code != http.StatusOK || answer.Header().Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Fatalf("got %d %q", answer.Code, answer.Header())
	}
	all, err := parse(answer.Body.String())
	if err != nil {
		t.Fatalf("%v in\n%s", err, answer.Body)
	}
	by := map[string]float64{}
	for _, s := range all {
		if s.label != "" {
			s.name += " " + s.label + "=" + s.value
		}
		by[s.name] = s.number
	}
	return by
}

func wantNumbers(t testing.TB, got, want map[string]float64) {
	t.Helper()
	for name, n := range want {
		if v, told := got[name]; !told || v != n {
			t.Errorf("%s: got %v (%v), want %v", name, v, told, n)
		}
	}
}

func TestScrapeTellsCountersAndGauges(t *testing.T) {
	w := newWorld(t, "taken", "busy", "vague", "idle")
	w.send("taken")
	w.send("busy")
	w.pass(90 * time.Second)
	w.send("busy")
	w.send("vague")
	w.pass(1500 * time.Millisecond)
	wantNumbers(t, scrape(t, w.handler(metrics.Options{})), map[string]float64{
		"docket_messages_accepted_total":                          4,
		"docket_messages_replayed_total":                          0,
		"docket_messages_delivered_total":                         1,
		"docket_messages_revoked_total":                           0,
		"docket_passes_total":                                     4,
		"docket_passes_refused_total":                             2,
		"docket_passes_unconfirmed_total":                         1,
		"docket_lock_timeouts_total":                              0,
		"docket_store_readable":                                   1,
		"docket_sessions":                                         4,
		"docket_sessions_owing":                                   2,
		"docket_sessions_unreadable":                              0,
		"docket_messages_owed":                                    3,
		"docket_messages_unconfirmed":                             1,
		"docket_oldest_message_age_seconds":                       91.5,
		"docket_session_oldest_message_age_seconds session=busy":  91.5,
		"docket_session_oldest_message_age_seconds session=vague": 1.5,
	})
}

// What another process accepts shows in the gauges, and not in the counters.
func TestOtherProcessesShowInTheGauges(t *testing.T) {
	w := newWorld(t, "busy")
	other := dispatch.New(w.store, dispatch.Options{})
	defer other.Close()
	if _, err := other.SendText(t.Context(), "busy", dispatch.Message{Text: "go", NoDrain: true}); err != nil {
		t.Fatal(err)
	}
	wantNumbers(t, scrape(t, metrics.New(metrics.Options{Store: w.store})), map[string]float64{
		"docket_messages_accepted_total": 0, "docket_messages_owed": 1,
	})
}

// All that is promised is told, each with its type and its help, and nothing else.
func TestEveryMetricIsTold(t *testing.T) {
	w := newWorld(t, "busy")
	w.send("busy")
	got := scrape(t, w.handler(metrics.Options{}))
	var names []string
	for name := range got {
		name, _, _ = strings.Cut(name, " ")
		names = append(names, name)
	}
	for _, m := range metrics.All() {
		if !slices.Contains(names, m.Name) {
			t.Errorf("got no %s", m.Name)
		}
	}
	if len(names) != len(metrics.All()) {
		t.Errorf("got %d metrics, want %d", len(names), len(metrics.All()))
	}
}

// Sessions are named only as long as they are few.
func TestLabelsAreBounded(t *testing.T) {
	var ids []string
	for i := range 30 {
		ids = append(ids, fmt.Sprint("s", i))
	}
	w := newWorld(t, ids...)
	for _, id := range ids {
		w.pass(time.Second)
		if _, err := w.SendText(t.Context(), id, dispatch.Message{Text: "go", NoDrain: true}); err != nil {
			t.Fatal(err)
		}
	}
	for oldest, want := range map[int]int{0: 10, 3: 3, -1: 0} {
		n := 0
		got := scrape(t, w.handler(metrics.Options{Oldest: oldest}))
		if age := got["docket_oldest_message_age_seconds"]; age != 29 {
			t.Errorf("Oldest %d: got an age of %v seconds, want that of the oldest, 29", oldest, age)
		}
		for name := range got {
			if strings.Contains(name, "session=") {
				n++
			}
		}
		if n != want {
			t.Errorf("Oldest %d: got %d sessions named, want %d", oldest, n, want)
		}
	}
}

// Many scrapes cost one look at the store; the counters are always those of now.
func TestGaugesAreKeptForAMoment(t *testing.T) {
	w := newWorld(t, "busy")
	h := w.handler(metrics.Options{})
	scrape(t, h)
	w.send("busy")
	wantNumbers(t, scrape(t, h), map[string]float64{"docket_messages_owed": 0, "docket_messages_accepted_total": 1})
	w.pass(time.Second + time.Millisecond)
	wantNumbers(t, scrape(t, h), map[string]float64{"docket_messages_owed": 1})
	w.send("busy")
	wantNumbers(t, scrape(t, w.handler(metrics.Options{Fresh: -1})), map[string]float64{"docket_messages_owed": 2})
}

// Where the store cannot be read the counters stand, and no gauge claims anything.
func TestStoreThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	store, err := session.OpenStore(dir, session.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sessions"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := &dispatch.Counters{}
	c.Accepted.Add(3)
	h := metrics.New(metrics.Options{Store: store, Counters: c, Fresh: -1})
	got := scrape(t, h)
	wantNumbers(t, got, map[string]float64{"docket_store_readable": 0, "docket_messages_accepted_total": 3})
	if v, told := got["docket_sessions"]; told {
		t.Errorf("got %v sessions, want nothing told", v)
	}
	if err := os.Remove(filepath.Join(dir, "sessions")); err != nil {
		t.Fatal(err)
	}
	wantNumbers(t, scrape(t, h), map[string]float64{"docket_store_readable": 1, "docket_sessions": 0})
}

// A scraper that goes away leaves no failure to the next one, and what it began is that
// one's.
func TestScrapeThatIsCalledOff(t *testing.T) {
	w := newWorld(t, "idle")
	h := w.handler(metrics.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil).WithContext(ctx))
	}
	wantNumbers(t, scrape(t, h), map[string]float64{"docket_store_readable": 1, "docket_sessions": 1})
}

// A look at the store that takes too long is a store that cannot be read.
func TestLookThatTakesTooLong(t *testing.T) {
	w := newWorld(t, "idle")
	got := scrape(t, w.handler(metrics.Options{Timeout: time.Nanosecond}))
	wantNumbers(t, got, map[string]float64{"docket_store_readable": 0})
	wantNumbers(t, scrape(t, w.handler(metrics.Options{Timeout: -1})), map[string]float64{"docket_store_readable": 1})
}

func TestScrapesAtOnce(t *testing.T) {
	w := newWorld(t, "busy")
	h := w.handler(metrics.Options{Fresh: -1})
	var work sync.WaitGroup
	for range 20 {
		work.Go(func() {
			scrape(t, h)
			w.send("busy")
		})
	}
	work.Wait()
	wantNumbers(t, scrape(t, h), map[string]float64{"docket_messages_owed": 20, "docket_messages_accepted_total": 20})
}

func TestMethods(t *testing.T) {
	w := newWorld(t)
	server := httptest.NewServer(w.handler(metrics.Options{}))
	defer server.Close()
	for method, want := range map[string]int{http.MethodGet: 200, http.MethodHead: 200, http.MethodPost: 405, http.MethodDelete: 405} {
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != want || method == http.MethodHead && len(body) > 0 {
			t.Errorf("%s: got %d with %d bytes, %v, want %d", method, answer.StatusCode, len(body), err, want)
		}
	}
}

// The variable says the same, as JSON, and is registered by nobody but the embedder.
func TestVariable(t *testing.T) {
	w := newWorld(t, "busy")
	w.send("busy")
	w.pass(2 * time.Second)
	var v expvar.Var = w.handler(metrics.Options{}).Var()
	var got struct {
		Accepted float64            `json:"docket_messages_accepted_total"`
		Owed     float64            `json:"docket_messages_owed"`
		Ages     map[string]float64 `json:"docket_session_oldest_message_age_seconds"`
	}
	if err := json.Unmarshal([]byte(v.String()), &got); err != nil {
		t.Fatalf("%v in %s", err, v)
	}
	if got.Accepted != 1 || got.Owed != 1 || got.Ages["busy"] != 2 {
		t.Errorf("got %+v of %s, want 1, 1 and busy for 2 seconds", got, v)
	}
	expvar.Do(func(kv expvar.KeyValue) {
		if strings.Contains(kv.Key, "docket") {
			t.Errorf("got %s published, want nothing", kv.Key)
		}
	})
}

// A label's value survives the text form whatever is in it.
func TestLabelsAreEscaped(t *testing.T) {
	for _, value := range []string{`a"b`, `a\b`, "a\nb", `\n`, `\"`, "ü"} {
		text := "# HELP x_age y\n# TYPE x_age gauge\nx_age{session=\"" + metrics.Escape(value) + "\"} 1\n"
		all, err := parse(text)
		if err != nil || len(all) != 1 || all[0].value != value {
			t.Errorf("%q: got %v, %v", value, all, err)
		}
	}
}

// The parser of these tests is strict.
func TestParserRefuses(t *testing.T) {
	head := "# HELP a_total b\n# TYPE a_total counter\n"
	for _, text := range []string{
		"a_total 1\n", head + "a_total 1", head + "b_total 1\n", head + "a_total x\n", head + "a_total 1\na_total 2\n",
		head + "a_total  1\n", head + "\n", head + head, "# TYPE a_total counter\na_total 1\n", head + "a_total{a=\"\\x\"} 1\n",
		"# HELP a-b c\n# TYPE a-b gauge\n", "# HELP a b\n# TYPE a counter\n",
	} {
		if all, err := parse(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, all)
		}
	}
}

func Example() {
	dir, _ := os.MkdirTemp("", "store")
	defer os.RemoveAll(dir)
	store, _ := session.OpenStore(dir, session.Options{})
	counters := &dispatch.Counters{}
	d := dispatch.New(store, dispatch.Options{Counters: counters})
	defer d.Close()

	m := metrics.New(metrics.Options{Store: store, Counters: counters})
	mux := http.NewServeMux()
	mux.Handle("/metrics", m)

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	fmt.Print(strings.Join(strings.SplitAfter(answer.Body.String(), "\n")[:3], ""))
	// Output:
	// # HELP docket_messages_accepted_total Messages that this process accepted.
	// # TYPE docket_messages_accepted_total counter
	// docket_messages_accepted_total 0
}
