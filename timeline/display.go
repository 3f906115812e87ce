package timeline

// Display returns the word that every surface shows for a status: the label of
// the proposal while the agent is awaiting an answer (merge is "review", nothing
// is "done", close is "close-pending"), "working" while it is active, and
// otherwise the status itself. A message has no display word.
func (e Event) Display() string {
	if e.Kind != KindStatus {
		return ""
	}
	return DisplayWord(e.Status, e.Proposal)
}

// Stops reports whether the event is a declaration behind which the agent goes on only if
// it is told something: it asks, it cannot go on, it is done, or it awaits what becomes
// of whatever it proposes. These are the ones to wait for behind a message. An agent that
// works, is idle or is parked goes on by itself, and what other words mean only their
// authors know; those that are the display words of the former count as these.
func (e Event) Stops() bool {
	switch e.Display() {
	case "asking", "error", "done", "review", "close-pending":
		return true
	}
	return e.Kind == KindStatus && e.Status == "awaiting"
}

// DisplayWord is [Event.Display] for a status and a proposal that were not read
// from a log.
func DisplayWord(status, proposal string) string {
	switch status {
	case "active":
		return "working"
	case "awaiting":
		return proposalLabel(proposal)
	}
	return status
}

func proposalLabel(proposal string) string {
	switch proposal {
	case "merge":
		return "review"
	case "nothing":
		return "done"
	case "close":
		return "close-pending"
	case "":
		return "awaiting"
	}
	return proposal
}
