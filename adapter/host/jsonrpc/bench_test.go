package jsonrpc_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/docket-go/docket/adapter/host/jsonrpc"
)

// BenchmarkAsk is the round trip of a request to a program that answers at once.
func BenchmarkAsk(b *testing.B) {
	k := start(b, jsonrpc.Options{})
	go func() {
		for n := 1; ; n++ {
			if _, err := k.got.ReadSlice('\n'); err != nil {
				return
			}
			if _, err := fmt.Fprintf(k.far, `{"jsonrpc":"2.0","id":%d,"result":{"n":%d}}`+"\n", n, n); err != nil {
				return
			}
		}
	}()
	b.ReportAllocs()
	for n := 1; b.Loop(); n++ {
		var got struct{ N int }
		if err := k.conn.Ask(b.Context(), "greet", map[string]string{"name": "docket"}, &got); err != nil || got.N != n {
			b.Fatalf("got %d, %v, want %d", got.N, err, n)
		}
	}
}

// BenchmarkNotified is what each notification costs that a program writes, 1,000 at a
// time.
func BenchmarkNotified(b *testing.B) {
	const n = 1000
	ours, theirs := net.Pipe()
	heard := 0
	all := make(chan struct{})
	conn := jsonrpc.NewConn(ours, jsonrpc.Handler{
		Notified: func(string, json.RawMessage) {
			if heard++; heard%n == 0 {
				all <- struct{}{}
			}
		},
		Asked:   func(json.RawMessage, string, json.RawMessage) {},
		TooLong: func(json.RawMessage, string) bool { return false },
		Ended:   func(error) {},
		Gone:    func(error) {},
	}, jsonrpc.Options{Name: "bench: the program"})
	go conn.Serve()
	b.Cleanup(func() { theirs.Close(); conn.Close() })
	line := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"text":"a few words of text"}}}` + "\n"
	out := bufio.NewWriterSize(theirs, 16<<10)
	b.ReportAllocs()
	for b.Loop() {
		for range n {
			_, _ = io.WriteString(out, line) // Flush has its error
		}
		if err := out.Flush(); err != nil {
			b.Fatal(err)
		}
		<-all
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/message")
}
