package jsonrpc_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"

	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

// A connection to a program, which is played here.
func Example() {
	ours, theirs := net.Pipe()
	go func() {
		in := bufio.NewScanner(theirs)
		in.Scan()
		fmt.Fprintln(theirs, `{"method":"progress","params":50}`)
		fmt.Fprintln(theirs, `{"id":1,"result":"hello, docket"}`)
	}()
	conn := jsonrpc.NewConn(ours, jsonrpc.Handler{
		Notified: func(method string, params json.RawMessage) { fmt.Println(method, string(params)) },
		Asked:    func(json.RawMessage, string, json.RawMessage) {},
		TooLong:  func(json.RawMessage, string) bool { return false },
		Ended:    func(error) {},
		Gone:     func(err error) { fmt.Println(err) },
	}, jsonrpc.Options{Name: "example: the program"})
	go conn.Serve()
	var greeting string
	if err := conn.Ask(context.Background(), "greet", map[string]string{"name": "docket"}, &greeting); err != nil {
		fmt.Println(err)
	}
	fmt.Println(greeting)
	_ = conn.Close()
	// Output:
	// progress 50
	// hello, docket
	// example: the program was told to end
}
