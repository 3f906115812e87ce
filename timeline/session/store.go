package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/lock"
	"github.com/docket-go/docket/timeline"
)

const (
	sessionsDir = "sessions"
	closedDir   = "closed"
	stagingDir  = ".staging" // in sessions; no valid id

	recordFile    = "session.json"
	recordNewFile = "session.json.new"

	asideMark = "~" // in no valid id
)

// Options configures a [Store]. The zero value is ready to use.
type Options struct {
	// Timeline configures the logs of the sessions. Its Session and Locks are
	// filled in. Its Buffered holds for the records too: they are still replaced
	// atomically, but a power cut may take back the last changes, and damage what was
	// being written.
	Timeline timeline.Options

	// LockWait bounds each wait for a lock, as [lock.Options] does.
	LockWait time.Duration

	// Now is the clock. Nil means [time.Now].
	Now func() time.Time
}

// A Store is the directory that holds all sessions. It keeps nothing open, and is
// safe for concurrent use, together with any number of other processes.
type Store struct {
	dir     string
	options Options
	disk    disk
}

// DefaultDir returns the directory of the user's store: $DOCKET_HOME, else docket
// in $XDG_STATE_HOME, else .local/state/docket in the home directory. As that
// variable's specification asks, an $XDG_STATE_HOME that is no absolute path is
// ignored. Nothing is created. An error means that there is no home directory.
func DefaultDir() (string, error) {
	if dir := os.Getenv("DOCKET_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "docket"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("session: no place for the store: %w: set DOCKET_HOME", err)
	}
	return filepath.Join(home, ".local", "state", "docket"), nil
}

// OpenStore returns the store in the directory dir. A store that does not exist
// holds no session; [Store.Create] makes it. The error says that dir is something
// else than a directory, or cannot be reached.
func OpenStore(dir string, o Options) (*Store, error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("session: store %s: %w", dir, err)
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("session: store: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("session: store %s: it is not a directory: name another place", path)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeline.Now == nil {
		o.Timeline.Now = o.Now
	}
	return &Store{dir: path, options: o, disk: realDisk}, nil
}

// Dir returns the directory of the store as an absolute path.
func (s *Store) Dir() string { return s.dir }

// SessionsDir returns the directory that holds those of all sessions, each under its id.
// It is there once a session was made. It is for who looks at many sessions without
// opening each.
func (s *Store) SessionsDir() string { return filepath.Join(s.dir, sessionsDir) }

func (s *Store) sessionDir(id string) string { return filepath.Join(s.dir, sessionsDir, id) }
func (s *Store) stagingDir() string          { return filepath.Join(s.dir, sessionsDir, stagingDir) }
func (s *Store) lockOptions() lock.Options   { return lock.Options{Wait: s.options.LockWait} }
func (s *Store) durable() bool               { return !s.options.Timeline.Buffered }

// now is the present time as it can be stored.
func (s *Store) now() time.Time { return s.options.Now().UTC().Truncate(time.Millisecond) }
