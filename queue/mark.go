package queue

import "github.com/docket-go/docket/lock"

// tailBytes is how much of the last entry its tail is made of: the checksum and a part of
// the time, for one that this package wrote.
const tailBytes = 32

// tailOf is what tells the last entry of a list from that of another list.
func tailOf(line []byte) uint32 { return checksum(line[max(len(line)-tailBytes, 0):]) }

// mark is what the next holders of the record lock may know of the list. An older copy
// of it differs: more was enqueued since, and the last entry is another; or the file was
// written anew with less in it; or its oldest entries were removed since, where they were.
func (k *sheet) mark() lock.Mark {
	if k.file == nil {
		return lock.Mark{}
	}
	return lock.Mark{Size: k.size, From: k.from, Tail: k.tail}
}

// Replaced reports that the list is another one than was left by the last change under
// the record lock, and has this package's form: somebody put a copy in its place, most
// likely an older one. A program that takes entries off, and writes the list in another
// form or removes it, is not noticed. Who knows from elsewhere what is owed rebuilds the
// list, or calls [Queue.Trust].
//
// It costs what any first use in a hold costs, and nothing where something was used. If
// the list makes no sense, or no mark was left, the answer is no.
func (q *Queue) Replaced(held *lock.Record) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.load(held) != nil || q.known.file == nil {
		return false
	}
	k := &q.known
	left, marked := held.Mark()
	return marked && (k.size != left.Size || k.tail != left.Tail || k.first != nil && k.first.offset < left.From)
}

// Trust takes the list as it is for the one that was left. It reaches the disk as
// [lock.Record.SetMark] says.
func (q *Queue) Trust(held *lock.Record) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	err := q.load(held)
	if err == nil {
		held.SetMark(q.known.mark())
	}
	return err
}
