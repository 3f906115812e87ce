package codex_test

import (
	"fmt"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/codex"
	"github.com/docket-go/docket/adapter/host"
)

// A host runs codex for a session; docket reaches it by the adapter codex.
func Example() {
	options := host.Options{
		Session: adapter.Session{ID: "s1", Dir: "/home/a/.local/state/docket/sessions/s1"},
		Start:   codex.Starter(host.ProcessOptions{Args: []string{"codex", "app-server"}, Dir: "/home/a/project"}, codex.Options{}),
	}
	fmt.Println(codex.Kind.Name, options.Session.ID)
	// Output: codex s1
}
