package jsonrpc

// Decode returns the id and method of a line, and whether it is a message.
func Decode(line []byte) (id, method string, ok bool) {
	m, ok := decode(line)
	return string(m.ID), m.Method, ok
}

// HeadOf returns the id and method that the beginning of a line names.
func HeadOf(head []byte) (id, method string) {
	m := headOf(head)
	return string(m.ID), m.Method
}

// Waiting returns how many requests wait for their answers.
func Waiting(c *Conn) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}
