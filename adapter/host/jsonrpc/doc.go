// Package jsonrpc talks JSON-RPC with a program over its standard input and output,
// one message a line, both sides asking and answering. The drivers of agents that
// speak such a protocol are built on it.
//
// # What it keeps
//
// A [Conn] keeps the requests that wait for their answers, and the lines that wait for
// a program that does not read; see [host.Writer].
//
// # Guarantees
//
// What comes in is handled by one goroutine in the order of the lines: what a program
// says before an answer is handled before that answer. Nobody who sends waits for the
// program to read. A request that was not begun can be taken back, and of one that was
// it is known whether the program may have got it ([host.Line]).
//
// A program can say anything. A line is read in bounded memory; of one that is too long
// only the beginning is kept, and who made the connection decides whether it may be
// passed over. What is no message is passed over, and so is an answer to what was not
// asked, was not yet sent, or was answered before.
//
// When the connection ends, whoever waits for an answer learns why, and the reason is
// the first that there was. [Conn.Done] is closed once the program is gone.
//
// # Crashes
//
// A process that dies leaves a program that finds the end of its input. What it had not
// yet written is lost, and a line may be cut: it is no message then.
//
// # Format
//
// JSON-RPC 2.0 without batches, each message an object on a line of its own, texts
// unescaped but for what JSON demands. The field "jsonrpc" is not demanded of the
// program, and left out of what is sent if [Options.Bare] says so. The ids of requests
// count from 1.
package jsonrpc
