package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/docket-go/docket/lock/step"
)

// A Store keeps the agent's id of its session over the life of the program.
// Implementations must be safe for concurrent use.
type Store interface {
	// Load returns what Save was given last for that working directory, and "" if
	// there is nothing that can be gone on with.
	Load(dir string) (id string, err error)

	// Save must return nil only once Load will return it, also after a crash.
	Save(dir, id string) error
}

// sessionFile is the file of a [FileStore].
const sessionFile = "acp-session.json"

// ErrStore is returned for a file of a [FileStore] that does not make sense.
var ErrStore = errors.New("acp: the file with the agent's session makes no sense: remove it, and the agent begins a new one")

// A FileStore keeps the id in the file acp-session.json of a directory. A file of
// another program counts as none. Only the host of a session may use it.
type FileStore struct {
	Dir     string
	Program []string // the program and its arguments, which have their own sessions
}

// A record is what the file holds.
type record struct {
	Version int      `json:"version"`
	Program []string `json:"program"`
	Dir     string   `json:"cwd"`
	Session string   `json:"session"`
}

// Load reads the file. The error is [ErrStore] for one that is damaged or of a later
// version.
func (f FileStore) Load(dir string) (string, error) {
	path := filepath.Join(f.Dir, sessionFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("acp: %w", err)
	}
	var r record
	d := json.NewDecoder(bytes.NewReader(data))
	if err = d.Decode(&r); err == nil && (d.More() || r.Version != 1 || r.Session == "") {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s", ErrStore, path)
	}
	if !slices.Equal(r.Program, f.Program) || r.Dir != dir {
		return "", nil
	}
	return r.Session, nil
}

// Save replaces the file. An error leaves the one of before; if the process dies, one
// of the two is there, and perhaps a temporary file that the next Save replaces.
func (f FileStore) Save(dir, id string) error {
	data, err := json.Marshal(record{1, f.Program, dir, id})
	if err != nil {
		return fmt.Errorf("acp: %w", err)
	}
	path := filepath.Join(f.Dir, sessionFile)
	if err := writeSynced(path+".tmp", append(data, '\n')); err != nil {
		return fmt.Errorf("acp: %w", err)
	}
	step.At("adapter/acp: session file is written")
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("acp: %w", err)
	}
	step.At("adapter/acp: session file is in place")
	if err := syncDir(f.Dir); err != nil {
		return fmt.Errorf("acp: %w", err)
	}
	return nil
}

func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// known returns the id of the session to go on with, or "".
func (a *Agent) known() (string, error) {
	if a.options.Store == nil {
		return "", nil
	}
	return a.options.Store.Load(a.options.Dir)
}

// save stores the id of the session before its first prompt: one that was never used
// cannot be loaded everywhere.
func (a *Agent) save() error {
	var saved bool
	a.with(func(s *state) { saved = s.saved })
	if saved || a.options.Store == nil {
		return nil
	}
	if err := a.options.Store.Save(a.options.Dir, a.session); err != nil {
		return err
	}
	a.with(func(s *state) { s.saved = true })
	return nil
}
