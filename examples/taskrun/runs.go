package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/docket-go/docket/timeline"
	"github.com/docket-go/docket/timeline/turn"
)

// maxOutput bounds what is kept of the text of one run.
const maxOutput = 16 << 10

// An entry is one line of the log of task runs.
type entry struct {
	Number uint64          `json:"number"` // 1, 2, 3… in this log
	Time   time.Time       `json:"time"`   // of the event that it speaks of
	Run    string          `json:"run"`    // the id of the turn
	What   string          `json:"what"`   // started, or how the task ended
	Task   string          `json:"task,omitempty"`
	Output string          `json:"output,omitempty"`
	Next   timeline.Cursor `json:"next"` // the place in the turn log behind that event
}

// ended says how a task ended, by the outcome of its turn and nothing else.
var ended = map[turn.Outcome]string{
	turn.Success: "completed", turn.Failure: "failed", turn.Cancelled: "cancelled", turn.Interrupted: "lost",
}

// runs is the log of task runs. Its file has one writer.
type runs struct {
	file   *os.File
	number uint64          // of the last entry
	next   timeline.Cursor // of the last entry; zero in an empty log
	task   string          // of the run that is open
	output strings.Builder // what it said since it started
}

// openRuns opens the log, or makes it. A line that a crash left unfinished is removed:
// what it spoke of is read again from the turn log.
func openRuns(path string) (*runs, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	r := &runs{file: file}
	end, err := r.recover()
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("task runs in %s: %w", path, err), file.Close())
	}
	return r, nil
}

func (r *runs) recover() (end int64, err error) {
	content, err := io.ReadAll(r.file)
	if err != nil {
		return 0, err
	}
	whole := content[:bytes.LastIndexByte(content, '\n')+1]
	for line := range bytes.Lines(whole) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return 0, fmt.Errorf("entry %d: %w", r.number+1, err)
		}
		if e.Number != r.number+1 {
			return 0, fmt.Errorf("entry %d stands where %d should", e.Number, r.number+1)
		}
		r.number, r.next, r.task = e.Number, e.Next, e.Task
	}
	return int64(len(whole)), nil
}

func (r *runs) close() error { return r.file.Close() }

// take notes what an event means for a task. One that the log speaks of already is
// passed over.
func (r *runs) take(e turn.Event) error {
	if !r.next.IsZero() && e.Seq < r.next.Seq() {
		return nil
	}
	switch p := e.Payload.(type) {
	case turn.Started:
		r.output.Reset()
		r.task = p.MID
		return r.append(entry{Time: e.Time, Run: e.Turn, What: "started", Task: r.task, Next: e.Next})
	case turn.Text:
		if room := maxOutput - r.output.Len(); room > 0 {
			r.output.WriteString(p.Text[:min(room, len(p.Text))])
		}
	case turn.Finished:
		output := redact(strings.ToValidUTF8(r.output.String(), ""))
		return r.append(entry{Time: e.Time, Run: e.Turn, What: ended[p.Outcome], Task: r.task, Output: output, Next: e.Next})
	}
	return nil
}

// append makes an entry durable before anything else is done.
func (r *runs) append(e entry) error {
	e.Number = r.number + 1
	line, err := json.Marshal(e)
	if err == nil {
		_, err = r.file.Write(append(line, '\n'))
	}
	if err == nil {
		err = r.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("task runs in %s: note %s of %s: %w", r.file.Name(), e.What, e.Run, err)
	}
	r.number, r.next = e.Number, e.Next
	return nil
}

// replay yields the entries behind a number. It does nothing else.
func (r *runs) replay(after uint64) iter.Seq2[entry, error] {
	return func(yield func(entry, error) bool) {
		content, err := os.ReadFile(r.file.Name())
		if err != nil {
			yield(entry{}, err)
			return
		}
		for line := range bytes.Lines(content) {
			var e entry
			if err := json.Unmarshal(line, &e); err != nil {
				yield(entry{}, err)
				return
			}
			if e.Number > after && !yield(e, nil) {
				return
			}
		}
	}
}

var secret = regexp.MustCompile(`(?i)\b(password|passwd|secret|token|api[_-]?key)(\s*[=:]\s*)\S+`)

func redact(text string) string { return secret.ReplaceAllString(text, "$1$2[redacted]") }
