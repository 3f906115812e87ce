package httpread_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"time"

	"github.com/docket-go/docket/timeline/httpread"
	"github.com/docket-go/docket/timeline/session"
)

func Example() {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := session.OpenStore(dir, session.Options{Now: func() time.Time { return now }})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	s, err := store.Create(ctx, session.New{ID: "worker-1"})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Release()
	if _, err := s.Declare(ctx, session.Declaration{Status: "awaiting", Proposal: "merge", Note: "all pass"}); err != nil {
		log.Fatal(err)
	}

	h, err := httpread.New(httpread.Options{Store: store}) // package dispatch/surface gives Send and the others
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	resp, err := server.Client().Get(server.URL + "/api/sessions/worker-1/timeline?limit=1")
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	var page struct{ Events []json.RawMessage }
	if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
		log.Fatal(err)
	}
	fmt.Println(resp.Status)
	fmt.Printf("%s\n", page.Events[0])
	// Output:
	// 200 OK
	// {"ts":"2026-11-30T09:30:15.780Z","kind":"status","status":"awaiting","proposal":"merge","note":"all pass","display":"review"}
}
