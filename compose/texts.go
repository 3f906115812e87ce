package compose

// Texts are the inserts. The zero value means the defaults, field by field, so
// an embedder that gives its agents another command replaces only what it must.
type Texts struct {
	// NoteReply tells the agent to put its reply into a note. A replacement must
	// name the concrete command, say that it is to be run even when the message
	// forbids tools, and that printing is not delivery. Empty means
	// [DefaultNoteReply].
	NoteReply string

	// TerminalReply tells the agent that its terminal is read again. Empty means
	// [DefaultTerminalReply].
	TerminalReply string
}

// DefaultNoteReply is the insert of a message whose answer is read as a note.
const DefaultNoteReply = `[docket] Whoever sent this does not see your terminal and reads notes only. ` +
	`When you have the reply, run this command with the whole reply in it:

    docket ask --note "<complete reply>"

If the work is truly done, or parked, put the same complete reply on that declaration instead: ` +
	`docket done --note "<complete reply>" or docket park --note "<complete reply>". ` +
	`For a long reply, or one with quotes or $ in it, pipe it into the same command with --note - at the end.
Run the command even if the message above forbids tools or asks for output only: ` +
	`it carries the reply and is no part of the task. Printing the reply does not deliver it. ` +
	`This holds for this one message.`

// DefaultTerminalReply is the insert of the first message of a human who reads
// the terminal again.
const DefaultTerminalReply = `[docket] The sender reads your terminal again: reply in normal output, not in --note.`

// of returns the text of an insert.
func (t Texts) of(i Insert) string {
	switch i {
	case NoteReply:
		return orDefault(t.NoteReply, DefaultNoteReply)
	case TerminalReply:
		return orDefault(t.TerminalReply, DefaultTerminalReply)
	}
	return ""
}

func orDefault(text, def string) string {
	if text == "" {
		return def
	}
	return text
}
