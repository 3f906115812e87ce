package oneshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/docket-go/docket/lock/step"
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
	path := filepath.Join(f.Dir, sessionFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("oneshot: %w", err)
	}
	var r record
	d := json.NewDecoder(bytes.NewReader(data))
	if err = d.Decode(&r); err == nil && (d.More() || r.Version != 1 || r.Session == "") {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", fmt.Errorf("%w: %s", ErrStore, path)
	}
	if r.Preset != f.Preset || r.Dir != dir {
		return "", nil
	}
	return r.Session, nil
}

// Save replaces the file. An error leaves the one of before; if the process dies, one
// of the two is there, and perhaps a temporary file that the next Save replaces.
func (f FileStore) Save(dir, id string) error {
	data, err := json.Marshal(record{1, f.Preset, dir, id})
	if err != nil {
		return fmt.Errorf("oneshot: %w", err)
	}
	path := filepath.Join(f.Dir, sessionFile)
	if err := writeSynced(path+".tmp", append(data, '\n')); err != nil {
		return fmt.Errorf("oneshot: %w", err)
	}
	step.At("adapter/oneshot: session file is written")
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("oneshot: %w", err)
	}
	step.At("adapter/oneshot: session file is in place")
	if err := syncDir(f.Dir); err != nil {
		return fmt.Errorf("oneshot: %w", err)
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
