// Package doctor looks a store and its machine over, and says what is well, what is
// worth knowing, and what is wrong, with the command that puts it right.
//
//	for f := range doctor.Examine(ctx, doctor.Options{Store: store}) {
//		fmt.Println(f.Level, f.Check, f.Text, f.Do)
//	}
//
// # What it keeps
//
// Nothing.
//
// # Guarantees
//
// It changes nothing: what it finds is for a person to put right. A store that does
// not exist is not made. In one that does, it makes a directory of its own, in which it
// tries the locks and times a sync, and removes it again. It takes the lock of a session
// only where something seems to be stuck, and only if it is free at that moment. It
// contacts the hosts of sessions, asks programs on PATH for their versions, each with a
// bound on the time, and starts no agent.
//
// Memory does not grow with the store. Of each kind of finding it names
// [Options.Named] sessions and counts the rest. No finding holds anything of a
// message's text.
//
// # Crashes
//
// A death leaves the directory .doctor-… in the store. The next examination names it.
//
// # Format
//
// Nothing on disk. The words in [Finding.Check] are a contract:
//
//	version        of docket, of Go, and which system this is
//	store          the directory, and whether it is there
//	owner          whether it is the caller's
//	permissions    who else may read or write in it
//	filesystem     what kind of file system it is on
//	write          whether it can be written
//	locks          whether locks exclude each other there
//	sync           how long a sync takes
//	space          free bytes and inodes
//	sessions       how many there are
//	unsafe         a session's directory that is refused
//	record         a record that cannot be read
//	queue          a queue that cannot be read
//	adapter        an adapter that this docket does not have
//	owed           what is owed, and the oldest debts
//	unconfirmed    messages that somebody has to decide about
//	interrupted    changes that were begun and not completed
//	lock           a lock that is held for long
//	host           the hosts of sessions: there, busy, killed or missing
//	leftover       what dead processes left
//	notification   whether the system notifies of changes in so many sessions
//	program        what the adapters need, and whether it is on PATH
//	session        the caller's own, in DOCKET_SESSION
package doctor
