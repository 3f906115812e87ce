package codex

var (
	ClientID = clientID
	Scrub    = scrub
)

// CommandTitle returns the title of a command.
func CommandTitle(command string) string { return commandTitle(command, nil) }
