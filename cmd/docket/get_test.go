package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
)

// get prints what is at a URL whose beginning stands in the first line of a file: the
// status, the headers that tell what it is, an empty line and the body. If there is
// something on its standard input, it sends that there as JSON.
//
//	get FILE PATH [HEADER:VALUE]...
func get() {
	file, err := os.ReadFile(os.Args[1])
	check(err)
	base, _, _ := strings.Cut(string(file), "\n")
	body, err := io.ReadAll(os.Stdin)
	check(err)
	method := http.MethodGet
	if len(body) > 0 {
		method = http.MethodPost
	}
	r, err := http.NewRequest(method, base+os.Args[2], bytes.NewReader(body))
	check(err)
	r.Header.Set("Content-Type", "application/json")
	for _, header := range os.Args[3:] {
		name, value, _ := strings.Cut(header, ":")
		r.Header.Set(name, value)
		if name == "Host" {
			r.Host = value
		}
	}
	client := http.Client{Timeout: time.Minute}
	answer, err := client.Do(r)
	check(err)
	defer answer.Body.Close()
	fmt.Printf("%s\n%s\n\n", answer.Status, answer.Header.Get("Content-Type"))
	_, err = io.Copy(os.Stdout, answer.Body)
	check(err)
}
