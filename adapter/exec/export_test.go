package exec

// TailOf returns what is kept of these writes.
func TailOf(writes ...string) string {
	var t tail
	for _, w := range writes {
		_, _ = t.Write([]byte(w))
	}
	return t.String()
}
