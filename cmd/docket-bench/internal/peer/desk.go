package peer

// A Desk keeps messages and what of them is still owed, in the steps of docket:
// each of them is durable before the next.
type Desk interface {
	// Accept must record the n-th message and owe it.
	Accept(n uint64) error

	// HandOver must claim the oldest message that is owed, and then record that it
	// was delivered and owe it no more. It fails if none is owed.
	HandOver() error

	// Owed must count what is owed.
	Owed() (int, error)

	Close() error
}

// A DeskOpener opens a desk in an empty directory.
type DeskOpener func(dir string, d Durability) (Desk, error)
