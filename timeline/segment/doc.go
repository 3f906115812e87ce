// Package segment keeps an append-only log of JSON lines in numbered files.
//
// # What it keeps
//
// A [Log] is one directory of segments. Only the segment with the highest number
// is written; at a size bound the writer opens the next number and never touches
// the old file again. The listing of the directory is the only index. A file of
// another writer may come before all of them, and is read and never written.
//
// The engine does not know what a line means. A [Schema] tells it which lines are
// public, which bear a key, and what to keep as facts. Public lines are counted:
// the sequence of a public line is the number of public lines before it. Private
// lines move no sequence.
//
// # Guarantees
//
// [Log.Write] takes the held record lock and appends all its lines in one write.
// [Log.Sync] returns once they are on stable storage; calls at the same time share
// one data sync. After a failed sync the handle is faulted, and says so for ever
// ([ErrFaulted]). A write that fails leaves the log as it was.
//
// A line is committed by its newline. Readers take no lock and never show bytes
// behind the last newline. Every committed line can be read: one that is damaged is
// returned as [Unreadable] with the reason and its place, and reading goes on
// behind it. A sequence that damage has changed moves no other.
//
// The numbers are contiguous from one. A directory is not read at one moment, so
// what a reading shows no segment for is looked up by its names before it counts as
// missing; and a segment that is missing is reported by everyone who passes it. A writer
// that is new to a log reads no names where a note in the lock file says which segment was
// the newest, and the directory has the stamp that it had then (package stamp): what a
// write costs does not depend on the number of segments. So does a reader, where there are
// many. Where stamps are not known to tell
// every change, on the second of its last one, or for a tenth of a second behind it, no
// note is left.
//
// A [Reader] goes on when the log has grown, through rotation and sealing. A [View]
// is the log as it was at one moment, and is read backward at a cost that follows
// what is read. Memory is bounded by a block, a frame or the longest line. A hole in a
// file can be longer than any line: 1 MiB of NULs or more in a row count, with what
// stands before them in their line, as one range that is lost, and what is behind as a
// line.
//
// Segments before the highest can be sealed ([Log.Seal]): compressed, compared byte
// for byte, then exchanged. No reader's result changes. [Log.Verify] finds what was
// changed, cut or taken away: each line has a checksum, and each header names the
// digest of the segment before. What was cut off at the end of the newest segment,
// between two lines, cannot be told from a log that ends there.
//
// Where several lines are written in one call and the disk fills up in between, a
// reader may see the first of them for the moment until they are taken back.
//
// # Crashes
//
// A writer that dies inside Write leaves at most one unterminated line, behind
// whole ones; the next Write removes it before it appends. One that dies while it
// makes the first segment leaves an empty file or a torn header; the next Write
// completes it. A later segment is there with its whole header or not at all: the
// header is drafted and synced, then gets its name, and the name is durable before
// the first line is appended. A draft (*.tmp) that is left is removed at the next
// rotation. A data sync of the newest segment is thus enough to make the whole log
// durable, and a segment behind another that is empty, or that has lost its header,
// was damaged.
//
// A sealer that dies leaves a draft, which the next Seal removes, or both forms of
// one segment. Two forms are one segment, and the plain one is read.
//
// After a power cut every line whose Sync returned is there. Lines that were not
// synced may be missing from the end, and the next Write removes what is left of a
// torn one. Where a disk kept a later block of a write and not an earlier one, a line
// whose Sync never returned can stay as an Unreadable one between others.
//
// A data sync that fails puts in doubt all that was written since the last one that
// did not, by any process. Systems tell each open descriptor of it once at most, may
// count the pages as written then, and let the next sync succeed without them:
// which is why the handle stays faulted, and why a sync is never tried again. A new
// handle vouches for what is written through it and for nothing before; it cannot
// know that there was a fault. The lines in doubt stay in the file: readers see them
// while the system keeps them in memory, and new lines go behind them. A power cut
// can turn them into NULs or leave them out while later lines stay; they are
// Unreadable then, or missing numbers, and Verify names them.
//
// # Format
//
// The name of a segment is its number in 12 digits: 000000000001.ndjson, or
// 000000000001.ndjson.zst once sealed. Files have mode 0600, the directory 0700.
// Each line is one JSON object. The engine adds two fields at its end, a checksum and
// its sequence, for a private line that of the next public one:
//
//	{"ts":"2026-07-16T00:00:00.000Z","kind":"status","status":"active","crc":"9f0e11aa","seq":7}
//
// crc is the CRC-32C, in 8 lower-case hex digits, of all bytes of the line but its
// newline and the field ,"crc":"…" itself. A line that does not fit it is Unreadable.
// Readers hold up to 16 KiB of lines against their checksums at once, which finds all
// damage to one of them as surely as its own checksum does; damage to several of them
// cancels out by a chance of one in 2³¹. Whatever is derived for good, and Verify, take
// each line by itself.
// Lines of other writers lack both fields, and older lines of the engine the
// checksum: such lines are taken as they are, and counted where they bear no
// sequence. A sequence that leaves numbers out is believed if the lines around it
// bear it out; one that goes back is not.
//
// The first line of a segment that the engine made is its header, here in several
// lines, with the fields in this order:
//
//	{"ts":"2026-07-16T00:00:00.000Z","kind":"segment","version":1,
//	 "epoch":"<32 hex digits>","first":7,"prev":"<64 hex digits>"|null,
//	 "facts":<JSON>,"keys":"<base64>","check":"<8 hex digits>","seq":7}
//
// epoch names this life of the log: 16 random bytes, or the first half of the
// SHA-256 of the log's first line where another writer started it. first is the
// number of public lines before the segment. prev is the SHA-256 of the whole
// uncompressed segment before it; null in the first. facts is the schema's fold
// over everything before. keys is a Bloom filter over the keys in the segment
// before: twenty bits a key, or another number, as the ten of earlier versions, bit b
// being bit b%8 of byte b/8, and seven probes, which are the first seven big-endian
// 32-bit words of the key's digest modulo the number of bits; empty when there was no
// key, absent when that is not known. check is the CRC-32C of all bytes before
// ,"check". A header whose check is wrong counts as unreadable, and the segment as one
// of another writer.
//
// A sealed segment is a zstd file in the seekable format, which zstd -d opens:
//
//	summary     skippable frame 0x184D2A50: one JSON object
//	frames      one for the header, then of about 128 KiB, cut at newlines
//	seek table  skippable frame 0x184D2A5E, footer magic 0x8F92EAB1
//
// The summary has the fields kind ("segment-summary"), version, segment, first and
// next (the sequences before and behind), bytes, committed (the offset behind the
// last newline), sha256 (of the uncompressed bytes), packed (CRC-32C of the file
// behind the summary), frames (for each its compressed and uncompressed size and
// the sequence at its first line), spaces, and check as above. Each frame ends in
// its zstd checksum. Files that another program compressed are read by their seek
// table, or from their start where they have none.
package segment
