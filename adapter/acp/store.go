package acp

import (
	"errors"
	"fmt"
	"slices"

	"github.com/docket-go/docket/adapter/host"
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
	var r record
	found, err := f.file().Load(&r)
	if errors.Is(err, host.ErrFile) || err == nil && found && (r.Version != 1 || r.Session == "") {
		return "", fmt.Errorf("%w: %s", ErrStore, f.file().Path())
	}
	if err != nil || !found || !slices.Equal(r.Program, f.Program) || r.Dir != dir {
		return "", err
	}
	return r.Session, nil
}

// Save replaces the file, as [host.File] does.
func (f FileStore) Save(dir, id string) error {
	return f.file().Save(record{1, f.Program, dir, id})
}

func (f FileStore) file() host.File { return host.File{Dir: f.Dir, Name: sessionFile} }

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
