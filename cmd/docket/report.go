package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// A reporter writes the lines of standard error and keeps the exit status. Its
// method line is safe for concurrent use.
type reporter struct {
	mu      sync.Mutex
	w       io.Writer
	verb    string
	subject string // the session that the verb is about, once that is known
	status  int    // of the first complaint
}

// complain says that something went wrong with the subject. The verb may go on
// with the next; the program's status is that of the first complaint.
func (r *reporter) complain(subject string, err error) {
	if r.status == statusDone {
		r.status = statusOf(err)
	}
	if text := interrupted()[r.verb]; text != "" && calledOff(err) {
		err = &advised{strings.ReplaceAll(text, "{id}", subject), err}
	}
	r.line(subject, words(subject, err))
}

// line writes one line about the subject.
func (r *reporter) line(subject, text string) {
	parts := []string{"docket"}
	if about := strings.TrimSpace(r.verb + " " + clip(subject)); about != "" {
		parts = append(parts, about)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintln(r.w, oneLine(strings.Join(append(parts, text), ": ")))
}

// end reports what a verb returned and gives the status of the program.
func (r *reporter) end(err error) int {
	if err != nil {
		r.complain(r.subject, err)
	}
	return r.status
}

// clip keeps a line readable when somebody names a session by a whole text.
func clip(subject string) string {
	const most = 140
	if len(subject) <= most {
		return subject
	}
	return strings.ToValidUTF8(subject[:most], "") + "..."
}
