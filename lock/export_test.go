package lock

// FlockError is what an attempt answers when the kernel's lock call fails with err.
func (d *Dir) FlockError(err error) error { return d.record.flockError(err) }

// Gates counts the lock files that anyone in this process holds or waits for.
func Gates() int {
	gatesMu.Lock()
	defer gatesMu.Unlock()
	return len(gates)
}

// Waiting counts who waits for the record lock in this process, where only this
// handle is open.
func (d *Dir) Waiting() int {
	gatesMu.Lock()
	defer gatesMu.Unlock()
	if g := gates[d.record.path]; g != nil {
		return g.users - 1
	}
	return 0
}

// Stamped reports that the directory is on a file system whose stamps are trusted.
func (d *Dir) Stamped() bool { return d.stamped() != nil }

// Stands reports that the record lock's file is known to be where it was, without a
// look at its name.
func (d *Dir) Stands() bool { return d.record.place.stands() }
