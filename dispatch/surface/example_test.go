package surface_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/file"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/dispatch/surface"
	"github.com/docket-go/docket/timeline/httpread"
	"github.com/docket-go/docket/timeline/session"
)

func ExampleOptions() {
	dir, err := os.MkdirTemp("", "docket")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := session.OpenStore(dir, session.Options{})
	if err != nil {
		log.Fatal(err)
	}
	inbox := filepath.Join(dir, "inbox")
	s, err := store.Create(ctx, session.New{ID: "worker-1", Adapter: "file", Settings: map[string]string{"path": inbox}})
	if err != nil {
		log.Fatal(err)
	}
	defer s.Release()
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{file.Kind}})
	defer d.Close()
	sweeper := dispatch.NewSweeper(d, dispatch.SweepOptions{}) // go sweeper.Run(ctx), in a program

	h, err := httpread.New(surface.Options(d, sweeper.Nudge))
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	resp, err := http.Post(server.URL+"/api/sessions/worker-1/input", "application/json", strings.NewReader(`{"text":"run the tests"}`))
	if err != nil {
		log.Fatal(err)
	}
	resp.Body.Close()
	fmt.Println(resp.Status)

	swept, err := sweeper.Sweep(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("delivered", swept.Delivered)
	// Output:
	// 202 Accepted
	// delivered 1
}
