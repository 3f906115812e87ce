package codex

var ClientID = clientID

// CommandTitle returns the title of a command.
func CommandTitle(command string) string { return commandTitle(command, nil) }
