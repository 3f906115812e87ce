// Command docket sends messages to agents, owes them until they are delivered,
// and reads what was said: the packages of this module as one program.
//
// # What it keeps
//
// Nothing of its own: each verb is a few lines over the packages, and any number
// of dockets may run on one store at once. The store is --store, else
// $DOCKET_HOME, else the default of package session. It, and the directory sessions
// in it, may be symbolic links, as to another disk; a session that is one is refused.
//
// # Guarantees
//
// Standard output holds results only: text for people, or with --json one object a
// line. Nothing of a message acts on the terminal, turns the order of what is read or
// is hidden: for people it is spelt out (see [plain]), and in JSON it is escaped.
// Standard error holds one line an error: what was tried on what, the cause, and
// what to do. The exit status tells errors apart (see [statusOf]). Flags may stand
// before or after the other arguments; what follows "--" is never a flag.
//
// # Crashes
//
// It may be killed at any moment: what then is on disk is what the packages say.
// A message is accepted when docket send has printed its id, which it does on standard
// error where standard output cannot be written. A pipe that nobody reads any more ends
// the verbs that only read; the others go on to their end. A first SIGINT or
// SIGTERM ends it without breaking anything off: what is being handed over to an
// agent is waited for. A second one breaks that off too, which leaves the message
// unconfirmed, and a third one ends the process. docket host ends its agent at the
// first one; if it is killed, the next host does that.
//
// # Format
//
// The verbs, flags and JSON fields are a contract that scripts depend on. They
// are described by docket --help, and by the scripts in testdata/script.
package main

import "os"

// table names the verbs, in the order in which docket --help shows them.
func table() []row {
	return []row{
		{"new", newVerb}, {"send", sendVerb},
		{"declare", declareVerb}, {"active", activeVerb}, {"idle", idleVerb}, {"ask", askVerb}, {"park", parkVerb}, {"done", doneVerb}, {"review", reviewVerb}, {"error", errorVerb},
		{"log", logVerb}, {"follow", followVerb}, {"wait", waitVerb}, {"watch", watchVerb}, {"unwatch", unwatchVerb},
		{"pending", pendingVerb}, {"drain", drainVerb}, {"confirm", confirmVerb}, {"state", stateVerb}, {"revoke", revokeVerb}, {"serve", serveVerb},
		{"host", hostVerb}, {"turns", turnsVerb}, {"permit", permitVerb},
		{"seal", sealVerb}, {"verify", verifyVerb}, {"repair", repairVerb}, {"doctor", doctorVerb},
		{"top", topVerb}, {"ls", lsVerb}, {"show", showVerb}, {"set", setVerb}, {"archive", archiveVerb}, {"retire", retireVerb}, {"close", closeVerb},
		{"adapters", adaptersVerb}, {"demo", demoVerb}, {"demo-agent", demoAgentVerb}, {"version", versionVerb}, {"completion", completionVerb}, {"complete", completeVerb}, {"help", helpVerb},
	}
}

func main() {
	soft, hard := signals()
	os.Exit(run(soft, hard, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
