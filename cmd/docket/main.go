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

// verbs are the verbs, in the order in which docket --help shows them.
func verbs() []verb {
	return []verb{
		newVerb(), sendVerb(),
		declareVerb(), activeVerb(), idleVerb(), askVerb(), parkVerb(), doneVerb(), reviewVerb(), errorVerb(),
		logVerb(), followVerb(), waitVerb(), watchVerb(), unwatchVerb(),
		pendingVerb(), drainVerb(), confirmVerb(), stateVerb(), revokeVerb(), serveVerb(),
		hostVerb(), turnsVerb(), permitVerb(),
		sealVerb(), verifyVerb(), repairVerb(), doctorVerb(),
		topVerb(), lsVerb(), showVerb(), setVerb(), archiveVerb(), retireVerb(), closeVerb(),
		adaptersVerb(), demoVerb(), demoAgentVerb(), versionVerb(), completionVerb(), completeVerb(), helpVerb(),
	}
}

func main() {
	soft, hard := signals()
	os.Exit(run(soft, hard, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
