package timeline

import "time"

// A Kind says what a public event is. There are exactly two; a line of any other
// kind is private, and no public read shows it.
type Kind string

const (
	KindStatus Kind = "status" // the agent declared something
	KindSent   Kind = "sent"   // something was said to the session
)

// A Channel is where the sender of a message reads the answer.
type Channel string

const (
	Terminal Channel = "terminal" // the agent's normal output; the default
	Note     Channel = "note"     // the note of the agent's next declaration
)

// An Event is one public line of a timeline. A field that is null or absent in
// the line is empty. Events are values and can be compared with ==.
type Event struct {
	Seq  uint64    // its place among the public events, counted from 0
	Time time.Time // as the writer's clock had it; zero if the line has none
	Kind Kind

	Status   string // KindStatus: what was declared
	Proposal string // KindStatus: what the agent proposes while it waits
	Note     string // KindStatus: the whole note

	MID      string  // KindSent: the unique id of the message
	Text     string  // KindSent: as it was said, before any insert
	From     string  // KindSent: the sending session; empty means a human
	ReplyVia Channel // KindSent: as stored; empty means [Terminal]

	raw string // the stored line, or only what stands before the end of its public fields
}

// Human reports whether the event is a message that a human sent.
func (e Event) Human() bool { return e.Kind == KindSent && e.From == "" }

// Via returns the channel on which the sender of a message reads the answer:
// ReplyVia, or [Terminal] where the line names none.
func (e Event) Via() Channel {
	if e.ReplyVia == "" {
		return Terminal
	}
	return e.ReplyVia
}

// JSON returns the event as it is stored, less its private fields
// (dispatchReceipt, docket, crc and seq). The order of the fields is kept, and so are
// fields that this package does not know. An event that was not read from a log
// gives what [Log.Write] would store for it.
func (e Event) JSON() []byte { return e.AppendJSON(nil) }

// AppendJSON appends what [Event.JSON] returns.
func (e Event) AppendJSON(dst []byte) []byte {
	if e.raw == "" {
		return append(dst, e.encode()...)
	}
	if last := e.raw[len(e.raw)-1]; last == '"' || last == 'l' { // of null: no whole line ends so
		return append(append(dst, valid(e.raw)...), '}')
	}
	return append(dst, publicJSON(e.raw)...)
}
