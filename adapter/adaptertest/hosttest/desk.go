package hosttest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/adapter/adaptertest"
)

// A Desk is the directory by which a test and its program talk.
type Desk struct{ Dir string }

// File returns the path of a file on the desk.
func (d Desk) File(name string) string { return filepath.Join(d.Dir, name) }

// Is reports whether a file is there.
func (d Desk) Is(name string) bool {
	_, err := os.Stat(d.File(name))
	return err == nil
}

// Set makes a file.
func (d Desk) Set(name string) error { return os.WriteFile(d.File(name), nil, 0o600) }

// Clear removes one.
func (d Desk) Clear(name string) error { return os.Remove(d.File(name)) }

// Note adds a value to a file. It is for the program, which has nobody to tell of an
// error: it panics.
func (d Desk) Note(name string, value any) {
	f, err := os.OpenFile(d.File(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if err := json.NewEncoder(f).Encode(value); err != nil {
		panic(err)
	}
}

// Notes returns the values that were noted in a file, none if it is not there.
func Notes[V any](d Desk, name string) (list []V, err error) {
	data, err := os.ReadFile(d.File(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	for err == nil && decoder.More() {
		var v V
		if err = decoder.Decode(&v); err == nil {
			list = append(list, v)
		}
	}
	return list, err
}

// Harness returns the harness of an adapter whose program gets nothing but texts, which
// received lists. The program refuses a prompt while the file refuse is on the desk, and
// while hang is, it notes the beginning of a prompt in begun and never answers.
func (d Desk) Harness(a adapter.Adapter, received func() (texts []string, err error)) adaptertest.Harness {
	return adaptertest.Harness{
		Adapter: a,
		Expect:  func(p adapter.Prompt) adapter.Prompt { return adapter.Prompt{Text: p.Text} },
		Received: func() (list []adapter.Prompt, err error) {
			texts, err := received()
			for _, text := range texts {
				list = append(list, adapter.Prompt{Text: text})
			}
			return list, err
		},
		Refuse:  func() error { return d.Set("refuse") },
		Restore: func() error { return d.Clear("refuse") },
		Hang: func() (func() bool, error) {
			return func() bool { return d.Is("begun") }, d.Set("hang")
		},
	}
}
