package tmux

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/docket-go/docket/adapter"
)

// AttemptFile is the name of the file in the session's directory that describes
// the last hand-over that is to be proven by a transcript.
const AttemptFile = "tmux-attempt.json"

// An attempt is one hand-over, as it stood before the paste. A text that stands
// in a transcript behind these sizes came there through it.
type attempt struct {
	MID   string           `json:"mid"`
	Text  string           `json:"text"`  // as typed
	Files map[string]int64 `json:"files"` // size in bytes of each transcript

	searched map[string]int64 // size up to which nothing was found
}

// beginAttempt notes the transcripts that there are, in memory and on disk.
func (a *Adapter) beginAttempt(mid, text string) (*attempt, error) {
	t := &attempt{MID: mid, Text: text, Files: map[string]int64{}}
	paths, err := filepath.Glob(a.glob)
	if err != nil {
		return nil, fmt.Errorf("transcripts: %w", err)
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("transcripts: %w", err)
		}
		t.Files[path] = info.Size()
	}
	if a.dir == "" {
		return t, nil
	}
	data, err := json.Marshal(t)
	if err != nil {
		return nil, err
	}
	return t, replaceFile(filepath.Join(a.dir, AttemptFile), append(data, '\n'))
}

// Lookup says Present if the harness has written the text of the last hand-over
// with that mid into a transcript since, and otherwise that it cannot tell: a
// text that is in no transcript may still stand on the input line. It changes
// nothing and may be called at any time by anyone.
func (a *Adapter) Lookup(ctx context.Context, mid string) (adapter.Presence, error) {
	if a.glob == "" || a.dir == "" || ctx.Err() != nil {
		return adapter.CannotTell, ctx.Err()
	}
	data, err := os.ReadFile(filepath.Join(a.dir, AttemptFile))
	if errors.Is(err, fs.ErrNotExist) {
		return adapter.CannotTell, nil
	}
	if err != nil {
		return adapter.CannotTell, err
	}
	var t attempt
	if err := json.Unmarshal(data, &t); err != nil {
		return adapter.CannotTell, fmt.Errorf("%s: %w", AttemptFile, err)
	}
	if t.MID != mid {
		return adapter.CannotTell, nil
	}
	if found, err := t.arrived(a.glob); err != nil || !found {
		return adapter.CannotTell, err
	}
	return adapter.Present, nil
}

// arrived reports whether a transcript holds the text behind its noted size.
func (t *attempt) arrived(glob string) (bool, error) {
	paths, err := filepath.Glob(glob)
	if err != nil {
		return false, fmt.Errorf("transcripts: %w", err)
	}
	for _, path := range paths {
		found, err := t.arrivedIn(path)
		if found || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return found, err
		}
	}
	return false, nil
}

// maxAddedBytes bounds what is read of one transcript at a time.
const maxAddedBytes = 64 << 20

// arrivedIn reads what was added to one transcript. One that was cut short since
// proves nothing.
func (t *attempt) arrivedIn(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.IsDir() || info.Size() == t.searched[path] {
		return false, err
	}
	if _, err := f.Seek(t.Files[path], io.SeekStart); err != nil {
		return false, err
	}
	added, err := io.ReadAll(io.LimitReader(f, maxAddedBytes))
	if err != nil {
		return false, err
	}
	if t.searched == nil {
		t.searched = map[string]int64{}
	}
	t.searched[path] = info.Size()
	return newWanted(t.Text).inside(added), nil
}

// A wanted text is looked for in single lines of a transcript.
type wanted struct {
	text   string // without blanks at both ends, which harnesses trim
	quoted []byte // as a JSON string
}

func newWanted(text string) wanted {
	text = strings.TrimSpace(text)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string cannot fail
	return wanted{text, bytes.TrimSpace(b.Bytes())}
}

// inside reports whether added, whole lines of a transcript, holds the text.
func (w wanted) inside(added []byte) bool {
	if strings.Contains(w.text, "\n") && bytes.Contains(added, []byte(w.text)) {
		return true
	}
	for line := range bytes.Lines(added) {
		if w.in(bytes.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// in reports whether line is a JSON value that holds the text as one string, or
// a part of one over several lines, or is text that holds it.
func (w wanted) in(line []byte) bool {
	var v any
	switch {
	case string(line) == w.text:
		return true
	case json.Unmarshal(line, &v) == nil:
		return w.within("", v)
	case bytes.Contains(line, w.quoted):
		return true
	}
	return len(w.text) >= plainBytes && bytes.Contains(line, []byte(w.text))
}

// plainBytes is the length from which a text cannot be a key word of a format.
const plainBytes = 16

// within walks v, which stands under key. A text that could be a key word of the
// format counts only where formats keep what people say.
func (w wanted) within(key string, v any) bool {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v) == w.text && (len(w.text) >= plainBytes || speech()[strings.ToLower(key)])
	case []any:
		for _, e := range v {
			if w.within(key, e) {
				return true
			}
		}
	case map[string]any:
		for k, e := range v {
			if w.within(k, e) {
				return true
			}
		}
	}
	return false
}

// speech are the keys under which the known transcripts keep what was said.
var speech = sync.OnceValue(func() map[string]bool {
	return map[string]bool{"text": true, "content": true, "message": true, "prompt": true, "input": true, "display": true, "parts": true}
})
