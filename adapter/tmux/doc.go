// Package tmux is the adapter for a harness that runs in a tmux pane, where it is
// the only way in: it types a prompt as a person would paste it, and does not
// call typing delivery.
//
// # What it keeps
//
// Which pane a session is bound to, so that a stored number is never typed into
// when it belongs to somebody else; where a transcript is the proof, the last
// attempt; and texts that are too long to be typed. All of it lies in the
// session's directory and goes with it.
//
// # Guarantees
//
// [Adapter.Insert] reads pane and screen in one answer of the server and refuses,
// with nothing typed, an unknown or other pane (its [Identity] names server,
// pane and process; see Binding below), a dead one, copy mode, input that is
// off, an open dialog, an input line that is not empty, a shell's prompt, a turn
// at work, and a screen on which no input line is to be seen. The text then goes
// in through standard input, a buffer of its own and one bracketed paste; the
// server itself compares identity, life, mode, input and foreground program in
// the same command, and removes the buffer in either case. After a pause the
// screen is read again, and only without a dialog is the submit key pressed, by
// the same comparison. Between the reading of a screen and the command that it
// allows lie a few milliseconds in which a person can still start to type.
//
// Text never stands where tmux would read options, keys, commands or formats,
// and holds no control characters but line feed and tab ([Sanitize] has the
// rules). A text that would look like a numbered dialog behind the prompt sign
// gets the tag of rule 7. One of more than 16 KiB, or that holds what looks like
// a dialog, is put into a file and a sentence with its path is typed instead.
//
// A text of several lines, or with tabs, is typed only if the program has asked
// for bracketed paste. tmux tells since 3.6. Older servers are asked on Linux by
// showing the pane, for some milliseconds, to a tmux client without a screen: it
// runs the user's hooks for sessions and clients, if there are any. What stays
// unknown is refused, unless the profile names a harness that always asks or the
// setting brackets says it. The program could change its mind between that look
// and the paste.
//
// An answer of nil rests on the proof that was asked for: screen, the weak one,
// is that the end of the text stood on the input line before the key and does
// not after it; transcript, that the harness wrote the text into a file of its
// own after Insert began. With hook Insert is never sure by itself. Without the
// proof the answer is unconfirmed, and never that nothing arrived.
//
// # Screens
//
// The profile generic takes the row of the cursor for the input line. It is empty
// if nothing stands there but a prompt sign, one word that ends in a sign, or
// faint or grey text; so an idle cat, a prompt ">" and an empty screen are free,
// and any other row is somebody's draft. Where the program hides its cursor, the
// last row that begins with an arrow (> ❯ ›) counts, as it does always for
// claude, codex, gemini and qwen. Dialogs and signs of work are looked for in
// the last twelve rows that hold anything. A shell in the foreground is free
// only on an empty row or a bare ">", or if the setting program names it.
//
// What cannot be seen: a draft of several lines whose last one is empty, in a
// program without a frame or arrow; a prompt that a program draws elsewhere
// than at its cursor without hiding that; a dialog that matches no pattern. The
// settings composer, placeholder, dialog and busy are for such programs.
//
// # Crashes
//
// A process that dies before the paste leaves nothing in the pane, perhaps the
// files named below. One that dies between paste and submit leaves the text on the
// input line: it is unconfirmed, and every later Insert refuses that line as a
// draft until a person submits or clears it. One that dies after the key leaves
// a prompt that may have been taken; [Adapter.Lookup] finds it in a transcript,
// nothing else can. A client that dies inside a command cannot leave half a
// paste: the server pastes a whole buffer or none; the buffer itself may stay
// and is named docket-<process>-<random>. The files are replaced as a whole; a
// temporary one with a dot in front may stay behind.
//
// # Binding
//
// The first use notes the pane in [BindingFile]; from then on another server
// process, a respawned pane, or the same number on a restarted server is
// [adapter.ErrGone]. To bind anew, set target or socket to something else, set
// bind, or remove the file. So is a pane in which a shell has the terminal again
// after the program that was bound to.
//
// # Format
//
//	tmux.json             {"version":1,"target","socket","path","identity","program","bound"}
//	tmux-attempt.json     {"mid","text","files":{path: bytes}}, only with confirm=transcript
//	tmux-text-<hash>.txt  a text as it was sent; the hash is of the text
//
// All have mode 0600. Nothing else reads or writes them.
package tmux
