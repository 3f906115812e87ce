package opencode_test

import (
	"context"
	"fmt"
	"os"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/opencode"
)

// Without a server the prompt is refused, and nothing of it is anywhere.
func Example() {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	agent, err := opencode.New(adapter.Session{ID: "worker-1", Dir: dir}, opencode.Options{URL: "http://127.0.0.1:1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer agent.Close()
	err = agent.Insert(context.Background(), adapter.Prompt{MID: "m1", Session: "worker-1", Text: "run the tests"})
	fmt.Println(adapter.AnswerOf(err))
	presence, err := agent.Lookup(context.Background(), "m1")
	fmt.Println(presence, err)
	// Output:
	// refused
	// absent <nil>
}
