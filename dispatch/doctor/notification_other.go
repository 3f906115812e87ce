//go:build !linux

package doctor

// notification has nothing to say here: the system has no such limit, or docket does
// without.
func (e *examination) notification() {}
