package codex

import (
	"errors"
	"fmt"
	"slices"

	"github.com/docket-go/docket/adapter/host"
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
	var s stored
	found, err := f.file().Load(&s)
	if errors.Is(err, host.ErrFile) || err == nil && found && (s.Version != 1 || s.Thread == "" || slices.Contains(s.Earlier, "")) {
		return Record{}, fmt.Errorf("%w: %s: restore it, or remove it to begin a new thread", ErrStore, f.file().Path())
	}
	if err != nil || !found {
		return Record{}, err
	}
	return Record{s.Thread, s.Earlier}, nil
}

// Save replaces the file, as [host.File] does.
func (f FileStore) Save(r Record) error {
	return f.file().Save(stored{1, r.Thread, r.Earlier})
}

func (f FileStore) file() host.File { return host.File{Dir: f.Dir, Name: threadFile} }
