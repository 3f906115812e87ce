package session

// Known returns r without what only the package itself uses.
func Known(r Record) Record {
	r.frozen, r.declared, r.fields = nil, nil, nil
	return r
}
