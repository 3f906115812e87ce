// Package timeline is the record of a session: what its agent declared and what
// was said to it, in the order in which it was accepted.
package timeline
