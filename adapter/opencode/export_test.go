package opencode

// IDOf is the id of a message in a session of opencode, without its kind.
func IDOf(session, mid string) string { return idOf(session, mid) }
