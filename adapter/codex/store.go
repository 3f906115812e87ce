package codex

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

// A Record is what a [Store] keeps.
type Record struct {
	Thread  string   // codex's id of the thread; empty means that there is none yet
	Earlier []string // the threads before it that were lost, oldest first
}

// A Store keeps a [Record] over the life of the program. Implementations must be safe
// for concurrent use.
type Store interface {
	// Load returns what Save was given last, and the zero Record if there is nothing.
	Load() (Record, error)

	// Save must return nil only once Load will return it, also after a crash.
	Save(r Record) error
}

// threadFile is the file of a [FileStore].
const threadFile = "codex-thread.json"

// ErrStore is returned for a file of a [FileStore] that does not make sense. What was
// handed over cannot be looked up without it, so no new thread takes its place.
var ErrStore = errors.New("codex: the file with the thread makes no sense")

// A FileStore keeps the record in the file codex-thread.json of a directory. Only the
// host of a session may use it.
type FileStore struct{ Dir string }

// A stored is what the file holds.
type stored struct {
	Version int      `json:"version"`
	Thread  string   `json:"thread"`
	Earlier []string `json:"earlier,omitempty"`
}

// Load reads the file. The error is [ErrStore] for one that is damaged or of a later
// version.
func (f FileStore) Load() (Record, error) {
	path := filepath.Join(f.Dir, threadFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, nil
	}
	if err != nil {
		return Record{}, fmt.Errorf("codex: %w", err)
	}
	var s stored
	d := json.NewDecoder(bytes.NewReader(data))
	if err = d.Decode(&s); err == nil && (d.More() || s.Version != 1 || s.Thread == "" || slices.Contains(s.Earlier, "")) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return Record{}, fmt.Errorf("%w: %s: restore it, or remove it to begin a new thread", ErrStore, path)
	}
	return Record{s.Thread, s.Earlier}, nil
}

// Save replaces the file. An error leaves the one of before; if the process dies, one
// of the two is there, and perhaps a temporary file that the next Save replaces.
func (f FileStore) Save(r Record) error {
	data, err := json.Marshal(stored{1, r.Thread, r.Earlier})
	if err != nil {
		return fmt.Errorf("codex: %w", err)
	}
	path := filepath.Join(f.Dir, threadFile)
	if err := writeSynced(path+".tmp", append(data, '\n')); err != nil {
		return fmt.Errorf("codex: %w", err)
	}
	step.At("adapter/codex: thread file is written")
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("codex: %w", err)
	}
	step.At("adapter/codex: thread file is in place")
	if err := syncDir(f.Dir); err != nil {
		return fmt.Errorf("codex: %w", err)
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
