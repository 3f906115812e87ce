package timeline

import "time"

// An Entry is one line for [Log.Write] to store. The union is closed: [Status]
// and [Sent] are public, [Settled] and [Revoked] are private and are never shown,
// counted or moved over by a public read.
//
// A Time that is zero becomes the time of the write. Times are stored in UTC with
// milliseconds.
type Entry interface {
	// check returns why the entry cannot be stored, and nil if it can. Texts may
	// have maxText bytes, or any number if that is negative.
	check(maxText int) error
	// append adds the stored line, without seq and newline, to dst.
	append(dst []byte, now time.Time) []byte
	// room is about how many bytes append needs.
	room() int
	// public reports whether readers see the line.
	public() bool
}

// A Status is a declaration of the session's agent. Empty fields are stored as
// null.
type Status struct {
	Time                   time.Time
	Status, Proposal, Note string
}

// A Sent is a message to the session.
type Sent struct {
	Time     time.Time
	MID      string  // unique; must not be empty
	Text     string  // as it was said, before any insert
	From     string  // the sending session; empty means a human
	ReplyVia Channel // Terminal and empty are the same and are not stored

	// Receipt is the private proof that a keyed request was accepted; nil for a
	// message without a key.
	Receipt *Receipt
	// Delivered is the text that is handed over. Empty means the same as Text;
	// only a difference is stored.
	Delivered string
	// Attributes go with the message to the harness.
	Attributes map[string]string
	// FromLife says which life of the sending session said it: an id can be used
	// again after the session that bore it was closed. Zero means that nobody knows.
	FromLife uint64
	// NoDebt says that nobody has to hand this message over, so that [Log.Owed]
	// never names it. Delivered, Attributes and FromLife are not stored then.
	NoDebt bool
}

// A Receipt is kept privately on the line of a keyed message: only digests of the
// key and of the payload, and the exact bytes that are handed over.
type Receipt struct {
	Operation     string
	RequestDigest string // of the key, hexadecimal SHA-256
	PayloadHash   string // of the payload, hexadecimal SHA-256
	Delivery      Delivery
}

// A Delivery is what was frozen for the harness when a keyed message was accepted.
type Delivery struct {
	Text string
	From string // empty means a human
}

// A Settled proves that the adapter took the message. For a message without a key
// Operation and RequestDigest are empty and not stored.
type Settled struct {
	Time                     time.Time
	MID                      string
	Operation, RequestDigest string
}

// A Revoked proves that the message was taken out of the queue by a decision. For
// a keyed message Operation and RequestDigest let [Log.Receipt] find it faster.
type Revoked struct {
	Time                     time.Time
	MID, Reason              string
	Operation, RequestDigest string
}

// HandedText returns the text that is handed over to the harness: the frozen text
// of the receipt, else Delivered, else Text.
func (s Sent) HandedText() string {
	switch {
	case s.Receipt != nil:
		return s.Receipt.Delivery.Text
	case s.Delivered != "":
		return s.Delivered
	}
	return s.Text
}

func (Status) public() bool  { return true }
func (Sent) public() bool    { return true }
func (Settled) public() bool { return false }
func (Revoked) public() bool { return false }

// fieldsRoom is enough for the names of the fields of a line, its time and its kind.
const fieldsRoom = 160

func (s Status) room() int { return fieldsRoom + len(s.Status) + len(s.Proposal) + escaped(s.Note) }

func (s Sent) room() int {
	n := fieldsRoom + len(s.MID) + escaped(s.Text) + len(s.From)
	if s.Receipt != nil {
		n += fieldsRoom + len(s.Receipt.Operation) + len(s.Receipt.RequestDigest) + len(s.Receipt.PayloadHash) + escaped(s.Receipt.Delivery.Text)
	}
	return n
}

func (s Settled) room() int {
	return fieldsRoom + len(s.Operation) + len(s.RequestDigest) + len(s.MID)
}

func (r Revoked) room() int {
	return fieldsRoom + len(r.Operation) + len(r.RequestDigest) + len(r.MID) + len(r.Reason)
}

// escaped is about how long a text is as JSON.
func escaped(text string) int { return len(text) + len(text)/16 }
