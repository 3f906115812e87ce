// Package procgroup puts a program into a process group of its own, and ends whatever is in
// that group.
//
// # What it keeps
//
// Nothing.
//
// # Guarantees
//
// A signal to this process's group does not reach a program with a group of its own, and
// no child of the program escapes by outliving it: the group is ended, not its leader
// alone. What leaves the group, by setsid, is its own affair. Where there are no process
// groups a program is ended alone, and cannot be asked first.
//
// # Crashes
//
// A group outlives the process that made it. Package host ends what it finds so.
//
// # Format
//
// Nothing on disk.
package procgroup
