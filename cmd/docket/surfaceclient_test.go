package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// A shownStore is a store that docket serve shows.
type shownStore struct {
	box
	cmd  *exec.Cmd
	url  string
	said strings.Builder // on standard error, once it has ended
}

// serve runs docket serve with a port, until the test ends.
func (b box) serve(args ...string) *shownStore {
	b.t.Helper()
	s := &shownStore{box: b}
	s.cmd = exec.Command("docket", append([]string{"--store", b.store(), "serve", "--interval", "1s"}, args...)...)
	s.cmd.Dir, s.cmd.Env, s.cmd.Stderr = b.dir, b.env, &s.said
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		b.t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		if s.cmd.ProcessState == nil {
			s.end(syscall.SIGTERM)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.t.Fatalf("docket serve printed no address: %v: %s", err, &s.said)
	}
	s.url = strings.TrimSuffix(line, "\n")
	return s
}

// address is where it listens.
func (s *shownStore) address() string { return strings.TrimPrefix(s.url, "http://") }

// end ends it as a person or a service manager does, or kills it.
func (s *shownStore) end(signal os.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.t.Fatal(err)
	}
	late := time.AfterFunc(hanging, func() { s.cmd.Process.Signal(syscall.SIGQUIT) })
	defer late.Stop()
	err := s.cmd.Wait()
	if signal != os.Kill && err != nil {
		s.t.Errorf("docket serve ended with %v: %s", err, &s.said)
	}
}

// A told answer is one of the server, with the fields that tests look at.
type told struct {
	status int
	etag   string
	body   string

	Code, MID, Next, State string
	Replayed, Delivered    bool
	Total                  int
	Events                 []struct{ Kind, MID, Text, Display, ReplyVia string }
	Pending                []struct{ MID, State, LastError string }
	States                 map[string]struct{ State string }
}

// ask makes a request; headers are "Name: value", and Host sets the host.
func (s *shownStore) ask(method, path, body string, headers ...string) (told, error) {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+"/api/"+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
		}
		r.Header.Set(name, value)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: hanging}
	resp, err := client.Do(r)
	if err != nil {
		return told{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	a := told{status: resp.StatusCode, etag: resp.Header.Get("ETag"), body: string(b)}
	if len(b) > 0 && err == nil {
		err = json.Unmarshal(b, &a)
	}
	return a, err
}

func (s *shownStore) get(path string, headers ...string) told {
	s.t.Helper()
	a, err := s.ask(http.MethodGet, path, "", headers...)
	if err != nil {
		s.t.Fatal(err)
	}
	return a
}

func (s *shownStore) post(id, text string, headers ...string) (told, error) {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"text": text, "replyVia": "note"})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.ask(http.MethodPost, "sessions/"+id+"/input", string(body), headers...)
}

// must posts what has to be accepted.
func (s *shownStore) mustPost(id, text, key string) told {
	s.t.Helper()
	a, err := s.post(id, text, "Idempotency-Key: "+key)
	if err != nil || a.status != http.StatusAccepted {
		s.t.Fatalf("got %v, %v, want it accepted", a, err)
	}
	return a
}

// eventually polls until ok answers true.
func (b box) eventually(what string, ok func() bool) {
	b.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(hanging)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			b.t.Fatalf("never: %s", what)
		}
	}
}

const busyUnlessUp = "test -e up || exit 75; cat >>inbox; echo >>inbox"

// agent makes a session whose agent takes messages once there is a file up.
func (b box) agent(id string) {
	b.t.Helper()
	b.must("new", id, "--adapter", "exec", "--set", "headless=false", "--set", "dir="+b.dir, "--set", "cmd="+busyUnlessUp)
}

// wake lets the agents take what they are owed.
func (b box) wake() {
	b.t.Helper()
	if err := os.WriteFile(b.dir+"/up", nil, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
