// Package compose decides where the answer to a message will be read, and what
// text the agent gets because of it. It is the only place that decides either.
//
// # What it keeps
//
// Nothing: [Texts.Compose] is a pure function of its arguments. The history that
// it depends on, the channel of the last message of a human, is a derived read
// of the timeline that the caller makes under the same record lock.
//
// # Guarantees
//
// The effective channel is the explicit one; without one it is [Note] for a
// headless adapter and [Terminal] for every other. No one else decides it.
//
// The text holds the raw text byte for byte, first, and after a blank line at
// most one insert:
//
//   - [NoteReply], whenever the effective channel is Note, whoever sends;
//   - [TerminalReply], when a human sends, the effective channel is Terminal and
//     the last message of a human before this one went out as Note.
//
// The second comes exactly once for each such change: the message that carries
// it is recorded as a terminal one, so the next finds no change. What agents
// send to each other neither causes it nor uses it up, as it says nothing about
// where the human reads.
//
// # Crashes
//
// There is nothing to leave behind. The composed text is frozen where it is
// accepted, so a later change of [Texts] never changes what is owed already.
//
// # Format
//
// raw text, "\n\n", insert; without an insert the raw text alone. A raw text
// that ends in newlines keeps them.
package compose

import (
	"errors"
	"fmt"
)

// ErrChannel is returned by [ParseChannel] and [Texts.Compose] for a channel that
// is neither note nor terminal.
var ErrChannel = errors.New("compose: unknown reply channel")

// A Channel is where the sender of a message reads the answer.
type Channel string

// The channels.
const (
	Terminal Channel = "terminal" // in what the agent prints
	Note     Channel = "note"     // in the note of the agent's next declaration
)

// ParseChannel returns the channel with that name, and for the empty name the
// empty channel: none is asked for. The error is [ErrChannel].
func ParseChannel(name string) (Channel, error) {
	switch c := Channel(name); c {
	case "", Terminal, Note:
		return c, nil
	}
	return "", fmt.Errorf("%w: %q: use %s or %s", ErrChannel, name, Note, Terminal)
}

// A Request is everything that the decision depends on.
type Request struct {
	Text     string  // the raw text
	From     string  // the session that sends; empty means a human
	Explicit Channel // the channel that the sender asks for; empty means none
	Headless bool    // nobody reads the terminal of the target's adapter

	// LastHuman is the effective channel of the last message that a human sent
	// to the target before this one; empty means that there was none. What is
	// not Note counts as Terminal, as the timeline records only Note.
	LastHuman Channel
}

// Composed is the decision.
type Composed struct {
	Via    Channel // the effective channel, never empty
	Text   string  // what the agent gets
	Insert Insert  // what stands in Text behind the raw text
}

// An Insert is what was added to a raw text.
type Insert int

// The inserts.
const (
	None          Insert = iota // nothing was added
	NoteReply                   // reply in a note
	TerminalReply               // reply in the terminal again
)

// String returns the word for i.
func (i Insert) String() string {
	switch i {
	case None:
		return "none"
	case NoteReply:
		return "note reply"
	case TerminalReply:
		return "terminal reply"
	}
	return "undefined"
}

// Compose decides the effective channel of r and the text that the agent gets.
//
// Nil promises what the package comment says; the text is not checked. The error
// is [ErrChannel], for an explicit channel that does not exist. Compose may be
// called by any number of goroutines, and writes nothing.
func (t Texts) Compose(r Request) (Composed, error) {
	via, err := r.channel()
	if err != nil {
		return Composed{}, err
	}
	c := Composed{Via: via, Text: r.Text, Insert: r.insert(via)}
	if c.Insert != None {
		c.Text += "\n\n" + t.of(c.Insert)
	}
	return c, nil
}

// channel returns the effective channel.
func (r Request) channel() (Channel, error) {
	explicit, err := ParseChannel(string(r.Explicit))
	switch {
	case err != nil:
		return "", err
	case explicit != "":
		return explicit, nil
	case r.Headless:
		return Note, nil
	}
	return Terminal, nil
}

// insert returns what a message with the effective channel via must carry.
func (r Request) insert(via Channel) Insert {
	human := r.From == ""
	switch {
	case via == Note:
		return NoteReply
	case human && r.LastHuman == Note:
		return TerminalReply
	}
	return None
}
