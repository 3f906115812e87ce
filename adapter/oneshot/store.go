package oneshot

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/adapter/host"
)

// A Store keeps the program's id of the conversation from one prompt to the next.
// Implementations must be safe for concurrent use.
type Store interface {
	// Load returns what Save was given last for that working directory, and "" if
	// there is nothing that can be gone on with.
	Load(dir string) (id string, err error)

	// Save must return nil only once Load will return it, also after a crash.
	Save(dir, id string) error
}

// sessionFile is the file of a [FileStore].
const sessionFile = "oneshot-session.json"

// ErrStore is returned for a file of a [FileStore] that does not make sense.
var ErrStore = errors.New("oneshot: the file with the program's conversation makes no sense: remove it, and a new one begins")

// A FileStore keeps the id in the file oneshot-session.json of a directory. A file of
// another preset or working directory counts as none. Only the host of a session may
// use it.
type FileStore struct {
	Dir    string
	Preset string // whose conversation it is
}

// A record is what the file holds.
type record struct {
	Version int    `json:"version"`
	Preset  string `json:"preset"`
	Dir     string `json:"cwd"`
	Session string `json:"session"`
}

// Load reads the file. The error is [ErrStore] for one that is damaged or of a later
// version.
func (f FileStore) Load(dir string) (string, error) {
	var r record
	found, err := f.file().Load(&r)
	if errors.Is(err, host.ErrFile) || err == nil && found && (r.Version != 1 || r.Session == "") {
		return "", fmt.Errorf("%w: %s", ErrStore, f.file().Path())
	}
	if err != nil || !found || r.Preset != f.Preset || r.Dir != dir {
		return "", err
	}
	return r.Session, nil
}

// Save replaces the file, as [host.File] does.
func (f FileStore) Save(dir, id string) error {
	return f.file().Save(record{1, f.Preset, dir, id})
}

func (f FileStore) file() host.File { return host.File{Dir: f.Dir, Name: sessionFile} }
