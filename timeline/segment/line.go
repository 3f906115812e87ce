package segment

// A Class says who may see a line.
type Class int

const (
	// Public lines are counted: they make the sequence.
	Public Class = iota
	// Private lines are kept and never counted.
	Private
	// Unreadable lines are damaged. They carry no number and are never counted.
	Unreadable
)

func (c Class) String() string {
	switch c {
	case Public:
		return "public"
	case Private:
		return "private"
	}
	return "unreadable"
}

// A Line is one committed line of a log.
type Line struct {
	// Bytes is the line without its newline. It is valid until the next line is
	// asked for. It is empty where a whole range of a sealed segment is lost.
	Bytes []byte

	Class Class

	// Seq is the line's own sequence if it is public, otherwise the sequence of the
	// next public line. Sequences start at zero.
	Seq uint64

	Segment uint64 // number of the segment; zero is the legacy first segment
	Offset  int64  // where the line starts, in the uncompressed segment
	Header  bool   // the line is the segment's header, which the engine wrote

	// Err says why a line is Unreadable, and is nil for every other line. It is a
	// [*CorruptError].
	Err error
}
