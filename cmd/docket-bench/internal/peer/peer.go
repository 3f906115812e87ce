// Package peer has the logs that docket's timeline is compared with, each in a file
// of its own: the least that the operating system allows, and what people take
// instead.
//
// # What it keeps
//
// Each log keeps its files in the directory that it is opened in.
//
// # Guarantees
//
// All logs store the messages of package prose. Append returns nil once the message
// is as safe as the [Durability] says, the same for all of them; what a log cannot
// promise, it cannot be opened for. Those that are given bytes get them ready made,
// while docket writes its own lines: what that costs counts for docket only.
//
// # Crashes
//
// As far as each of them goes.
//
// # Format
//
// That of each of them.
package peer

import (
	"errors"
	"fmt"

	"github.com/docket-go/docket/cmd/docket-bench/internal/race"
)

// A Durability says what an appended message survives.
type Durability int

const (
	Synced   Durability = iota // a power cut
	Buffered                   // the death of the process
)

// A Log is what a contestant appends messages to. It is safe for concurrent use.
type Log interface {
	// Append must store the n-th message, and return nil only once it is as safe
	// as the log's durability says.
	Append(n uint64) error

	// Count must count the messages that are there, by reading them anew.
	Count() (int, error)

	Close() error
}

// An Opener opens a log in a directory, which is empty the first time.
type Opener func(dir string, d Durability) (Log, error)

// unsupported says that a log cannot take part.
func unsupported(err error) error {
	if errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%w: %w", race.ErrAbsent, err)
	}
	return err
}
