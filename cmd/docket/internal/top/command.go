package top

// An Act is what a Command asks for.
type Act int

// The acts. All but Quit are about a session.
const (
	Quit    Act = iota
	Read        // its conversation, from the end on, live
	Older       // the events before the one that is named
	Close       // its conversation is not read any more
	List        // what it is owed
	Retry       // one delivery pass
	Revoke      // take the message back
	Confirm     // the unconfirmed message arrived
	Absent      // the unconfirmed message did not arrive
)

// A Command is what a [Model] wants to be done outside of it.
type Command struct {
	Act     Act
	Session string
	MID     string // of Revoke, Confirm and Absent
	Before  uint64 // of Older: an event's sequence
}

// changes reports whether the command changes something.
func (c Command) changes() bool { return c.Act >= Retry }

// doing says what is under way.
func (c Command) doing() string {
	switch c.Act {
	case Retry:
		return "handing over what is owed ..."
	case Revoke:
		return "revoking ..."
	}
	return "confirming ..."
}
