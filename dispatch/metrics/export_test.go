package metrics

// Escape is how the value of a label is written.
func Escape(s string) string { return escaped.Replace(s) }
