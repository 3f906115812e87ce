package timeline

// JSON returns the event as it is stored, less its private fields
// (dispatchReceipt, docket and seq). The order of the fields is kept, and so are
// fields that this package does not know. An event that was not read from a log
// gives what [Log.Write] would store for it.
func (e Event) JSON() []byte { return []byte(e.raw) }
