package acp_test

import (
	"context"
	"fmt"

	"github.com/docket-go/docket/adapter/acp"
	"github.com/docket-go/docket/adapter/host"
)

// A host runs a program that speaks the protocol. The policy lets it read, has a human
// asked about commands, and declines the rest.
func Example() {
	options := acp.Options{Policy: func(_ context.Context, r acp.Request) string {
		if r.Class == "execute" {
			return "" // a human decides
		}
		for _, o := range r.Options {
			if o.Grants == (r.Class == "read") {
				return o.ID
			}
		}
		return ""
	}}
	broker := host.Options{Start: acp.Starter(host.ProcessOptions{Args: []string{"opencode", "acp"}}, options)}
	fmt.Println(broker.Start != nil)
	fmt.Println(options.Policy(context.Background(), acp.Request{Class: "edit", Options: []host.Option{
		{ID: "once", Name: "allow once", Grants: true}, {ID: "reject", Name: "reject once"},
	}}))
	// Output:
	// true
	// reject
}
