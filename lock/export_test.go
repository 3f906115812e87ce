package lock

// FlockError is what an attempt answers when the kernel's lock call fails with err.
func (d *Dir) FlockError(err error) error { return d.record.flockError(err) }

// Gates counts the lock files that anyone in this process holds or waits for.
func Gates() int {
	gatesMu.Lock()
	defer gatesMu.Unlock()
	return len(gates)
}

// Waiting counts who holds or waits for the record lock in this process.
func (d *Dir) Waiting() int {
	gatesMu.Lock()
	defer gatesMu.Unlock()
	if g := gates[d.record.path]; g != nil {
		return g.users
	}
	return 0
}
