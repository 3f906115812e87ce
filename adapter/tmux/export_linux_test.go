package tmux

// BracketsIn is how a client's terminal tells whether a program wants bracketed
// paste.
func BracketsIn(shown string) string {
	return [...]string{"unknown", "yes", "no"}[bracketsIn([]byte(shown))]
}
