// Command customadapter is an orchestrator that brings its own adapter: one for a
// harness that watches a spool directory, where each file is a prompt.
//
// The adapter is forty lines; the test beside it runs the conformance kit on it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/session"
)

// spoolKind is what the orchestrator adds to its registry.
var spoolKind = adapter.Kind{
	Name: "spool",
	Doc:  "puts each prompt as a file into a directory that a harness watches",
	Settings: []adapter.Setting{
		{Name: "dir", Doc: "the spool directory", Allowed: "a directory that exists", Required: true},
	},
	Open: func(_ adapter.Session, settings map[string]string) (adapter.Adapter, error) {
		return spool{settings["dir"]}, nil
	},
}

// A spool hands a prompt over by giving a file its final name, which either
// happens or does not: it is never unconfirmed by itself. Names sort by time.
type spool struct{ dir string }

func (spool) Headless() bool { return true }

func (s spool) Insert(ctx context.Context, p adapter.Prompt) error {
	if err := ctx.Err(); err != nil {
		return adapter.Refuse(err)
	}
	content, err := json.Marshal(p)
	if err != nil {
		return adapter.Refuse(err)
	}
	final := filepath.Join(s.dir, fmt.Sprintf("%020d-%s.json", time.Now().UnixNano(), p.MID))
	if err := os.WriteFile(final+".new", content, 0o600); err != nil {
		return adapter.Refuse(fmt.Errorf("spool a prompt: %w", err))
	}
	if err := os.Rename(final+".new", final); err != nil {
		return adapter.Refuse(fmt.Errorf("spool a prompt: %w", err))
	}
	return nil
}

// Lookup tells after a crash whether the file got its name.
func (s spool) Lookup(_ context.Context, mid string) (adapter.Presence, error) {
	files, err := os.ReadDir(s.dir)
	if err != nil {
		return adapter.CannotTell, err
	}
	for _, f := range files {
		if strings.HasSuffix(f.Name(), "-"+mid+".json") {
			return adapter.Present, nil
		}
	}
	return adapter.Absent, nil
}

func main() {
	dir, err := os.MkdirTemp("", "docket")
	check(err)
	defer os.RemoveAll(dir)
	ctx := context.Background()
	store, err := session.OpenStore(filepath.Join(dir, "store"), session.Options{})
	check(err)
	s, err := store.Create(ctx, session.New{ID: "worker-1", Adapter: "spool", Settings: map[string]string{"dir": dir}})
	check(err)
	defer s.Release()
	d := dispatch.New(store, dispatch.Options{Adapters: adapter.Registry{spoolKind}})
	defer d.Close()
	accepted, err := d.SendText(ctx, "worker-1", dispatch.Message{Text: "run the tests"})
	check(err)
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	check(err)
	fmt.Println("delivered:", accepted.Delivered, "spooled:", len(files))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
