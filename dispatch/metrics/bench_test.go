package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/metrics"
)

// BenchmarkScrape is one scrape of a store of 1,000 sessions, of which every tenth owes a
// message: with a look at the store, and while the last look is fresh.
func BenchmarkScrape(b *testing.B) {
	var ids []string
	for i := range 1000 {
		ids = append(ids, fmt.Sprint("s", i))
	}
	w := newWorld(b, ids...)
	for i := 0; i < len(ids); i += 10 {
		if _, err := w.SendText(b.Context(), ids[i], dispatch.Message{Text: "go", NoDrain: true}); err != nil {
			b.Fatal(err)
		}
	}
	for name, o := range map[string]metrics.Options{"look": {Fresh: -1}, "fresh": {}} {
		b.Run(name, func(b *testing.B) {
			h := w.handler(o)
			if got := scrape(b, h); got["docket_sessions"] != 1000 || got["docket_messages_owed"] != 100 {
				b.Fatalf("got %v, want 1,000 sessions and 100 messages", got)
			}
			b.ReportAllocs()
			for b.Loop() {
				answer := httptest.NewRecorder()
				h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
				if answer.Code != http.StatusOK {
					b.Fatalf("got %d", answer.Code)
				}
			}
		})
	}
}
