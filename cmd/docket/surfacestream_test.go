package main

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// follow reads the events of a stream behind the id, until so many came.
func (s *shownStore) follow(path, after string, n int) (events []string, last string) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/api/"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if after != "" {
		r.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	lines, event, last := bufio.NewScanner(resp.Body), "", after
	for len(events) < n && lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case name == "id":
			last = value
		case name == "event":
			event = value
		case name == "data" && event == "event":
			events = append(events, value)
		}
	}
	if len(events) < n {
		s.t.Fatalf("got %q, %v, want %d events", events, lines.Err(), n)
	}
	return events, last
}

// A client of a stream goes on where it was, over a restart and over a death of the
// server: it sees each event once.
func TestServeStreamsGoOnOverARestart(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.must("new", "s1")
	b.must("new", "s2")
	for _, path := range []string{"sessions/s1/events", "events"} {
		after, n := "", strings.Count(b.must("log", "s1", "--all", "--json"), "\n")+strings.Count(b.must("log", "s2", "--all", "--json"), "\n")
		if path != "events" {
			n = 0
		}
		for round := range 4 {
			s := b.serve("--listen", "127.0.0.1:0") // a port that was left may be another program's
			b.must("send", "s1", fmt.Sprint(path, " live ", round))
			got, last := s.follow(path, after, n+1)
			if !strings.Contains(got[len(got)-1], fmt.Sprint(path, " live ", round)) {
				t.Errorf("%s: got %q, want the message %d last", path, got, round)
			}
			s.end([]syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}[round%2])
			after, n = last, 2
			b.must("send", "s1", fmt.Sprint(path, " away ", round))
			b.must("ask", "s1", "--note", fmt.Sprint(path, " note ", round))
		}
	}
}
