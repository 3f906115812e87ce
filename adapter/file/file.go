// Package file is the adapter that appends every prompt to a file, one JSON line
// each, for tests and for bridges to programs that read such a file.
//
// # What it keeps
//
// The file that the setting path names, and nothing else. A relative path is
// taken from the working directory of the process that opens the adapter; one
// that goes through [adapter.Registry.Settle] first is absolute from then on. The
// file is the harness: what is in it has arrived, and what somebody takes out of
// it never did. A reader must therefore remember how far it has read instead of
// removing lines, and must not read past the last newline.
//
// # Guarantees
//
// [Adapter.Insert] returns nil only once the whole line is on stable storage. A
// prompt that is refused, a full disk included, has left nothing in the file.
// Lines are written one at a time by any number of processes, under a lock on the
// file that the kernel frees when its holder dies; where a platform has no such
// lock, one process must do all the writing. [Adapter.Lookup] is exact, which is
// why an unconfirmed prompt is redelivered by itself: one that arrived is found.
//
// # Crashes
//
// A process that dies before the write leaves at most an empty file. One that
// dies inside the write leaves at most one line without its newline, at the very
// end. That line has not arrived: Lookup does not see it, and the next Insert cuts
// it off. Bytes without a newline that this package did not write are kept, and a
// newline is put behind them. A process that dies between the write and the sync
// leaves a line that Lookup finds; Lookup syncs before it says so.
//
// # Format
//
// The file is made with mode 0600. One line is
//
//	{"ts":"2026-01-02T03:04:05.678Z","mid":"...","session":"...","from":null,"text":"...","attributes":{}}
//
// in this order: the time of the hand-over in UTC, the message's id, the session
// that gets it, the session that sent it or null for a human, the composed text
// byte for byte, and what the sender attached.
package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/docket-go/docket/adapter"
	"github.com/docket-go/docket/lock/durable"
)

// Kind is the adapter "file" for an [adapter.Registry].
var Kind = adapter.Kind{
	Name: "file",
	Doc:  "appends one JSON line per prompt to a file; for tests and bridges",
	Settings: []adapter.Setting{
		{
			Name: "path", Required: true, Canonical: filepath.Abs,
			Doc:     "the file to append to; it is made when it does not exist",
			Allowed: "the path of a regular file, or of none, in a directory that exists",
		},
		{
			Name: "headless", Default: "false", Canonical: adapter.OneOf("true", "false"),
			Doc:     "whether nobody reads the terminal of the program behind the file, so that answers come as notes",
			Allowed: "true or false",
		},
	},
	Open: func(_ adapter.Session, settings map[string]string) (adapter.Adapter, error) {
		return New(Options{Path: settings["path"], Headless: settings["headless"] == "true"})
	},
}

// Options configures an [Adapter].
type Options struct {
	// Path is the file; it is required. A relative one is taken from the present
	// working directory of the process.
	Path string

	// Headless is what [Adapter.Headless] reports.
	Headless bool

	// Wait bounds the wait for another writer of the file; Insert refuses as
	// busy beyond it. Zero means 10 seconds; a negative value means that only
	// the context bounds it.
	Wait time.Duration

	// Now is the clock of the field ts. Nil means [time.Now].
	Now func() time.Time
}

// Adapter appends prompts to one file. It holds nothing open between calls and is
// safe for concurrent use.
type Adapter struct {
	path     string
	headless bool
	wait     time.Duration
	now      func() time.Time
	write    func(f *os.File, line []byte) (int, error)
}

// New returns the adapter for one file, without touching the file.
func New(o Options) (*Adapter, error) {
	if o.Path == "" {
		return nil, errors.New("file: no path: name the file to append to")
	}
	path, err := filepath.Abs(o.Path)
	if err != nil {
		return nil, fmt.Errorf("file: %s: %w", o.Path, err)
	}
	a := &Adapter{path: path, headless: o.Headless, wait: o.Wait, now: o.Now, write: (*os.File).Write}
	if a.wait == 0 {
		a.wait = 10 * time.Second
	}
	if a.now == nil {
		a.now = time.Now
	}
	return a, nil
}

// Headless reports what the options say.
func (a *Adapter) Headless() bool { return a.headless }

// Policy reports [adapter.Redeliver]: Lookup decides whether a prompt arrived.
func (a *Adapter) Policy() adapter.Policy { return adapter.Redeliver }

// Probe reports Blocked when the path is not that of a regular file, Gone when
// its directory is not there, and Idle otherwise.
func (a *Adapter) Probe(context.Context) (adapter.State, error) {
	switch info, err := os.Stat(a.path); {
	case err == nil && info.Mode().IsRegular():
		return adapter.Idle, nil
	case err == nil:
		return adapter.Blocked, a.notRegular()
	case !errors.Is(err, os.ErrNotExist):
		return adapter.Unknown, err
	}
	if _, err := os.Stat(filepath.Dir(a.path)); err != nil {
		return adapter.Gone, fmt.Errorf("file: %w: make the directory", err)
	}
	return adapter.Idle, nil
}

func (a *Adapter) notRegular() error {
	return fmt.Errorf("file: %s: not a regular file: name another path", a.path)
}

// Lookup reads the file from its beginning, holding no more of it in memory than
// the one line that it looks for: Present if a whole
// line of this package has that mid, Absent if none has or there is no file. It
// waits for a writer of the file, so Absent is final.
//
// An error comes with CannotTell: the file could not be read, or its writer did
// not finish within the wait or before the context ended.
func (a *Adapter) Lookup(ctx context.Context, mid string) (adapter.Presence, error) {
	f, err := a.open(ctx, os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		return adapter.Absent, nil
	}
	if err != nil {
		return adapter.CannotTell, err
	}
	defer f.Close()
	found, err := scan(contextReader{ctx, f}, mid)
	switch {
	case err != nil:
		return adapter.CannotTell, fmt.Errorf("file: %s: %w", a.path, err)
	case !found:
		return adapter.Absent, nil
	}
	if err := errors.Join(f.Sync(), durable.Names(filepath.Dir(a.path))); err != nil {
		return adapter.CannotTell, fmt.Errorf("file: %s: %w", a.path, err)
	}
	return adapter.Present, nil
}

// contextReader ends a long read with its context.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
