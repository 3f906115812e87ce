// Command fakemodel runs the model server of package fakemodel as a process, for
// tests that start harnesses by a script.
//
//	fakemodel -addr 127.0.0.1:0 -log requests.ndjson -port-file port
//
// It keeps nothing but the log, a line for each request, written before the answer
// begins, and the file with its port, which is there once it listens. POST
// /release/NAME lets go what waits for that name. It runs until it is killed, which
// leaves whole lines.
package main

import (
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/docket-go/docket/adapter/adaptertest/fakemodel"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fakemodel:", err)
		os.Exit(1)
	}
}

func run() error {
	addr := flag.String("addr", "127.0.0.1:0", "the address to listen on, loopback only")
	logPath := flag.String("log", "", "the file that gets a line for each request")
	portPath := flag.String("port-file", "", "the file that gets the port")
	flag.Parse()
	var log io.Writer
	if *logPath != "" {
		f, err := os.OpenFile(*logPath, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()
		log = f
	}
	s, err := fakemodel.Start(fakemodel.Options{Addr: *addr, Log: log})
	if err != nil {
		return err
	}
	fmt.Println(s.URL())
	if *portPath != "" {
		u, err := url.Parse(s.URL())
		if err != nil {
			return err
		}
		if err := os.WriteFile(*portPath+".new", []byte(u.Port()+"\n"), 0o600); err != nil {
			return err
		}
		if err := os.Rename(*portPath+".new", *portPath); err != nil {
			return err
		}
	}
	select {}
}
