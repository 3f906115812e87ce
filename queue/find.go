package queue

import (
	"bytes"
	"slices"
	"strconv"
)

// Find returns those of the messages that are owed, by id, with what is known of the
// attempts at the oldest entry. It takes no lock and may be called at any time. The errors
// are those of [Queue.All]; nothing is found then.
//
// In a file of more than 64 KiB that this package wrote it reads the oldest entry, and
// then from the newest back until all are found, and takes only those lines apart that
// are theirs, or whose checksums are not right. Damage of what it does not come to is not
// noticed. Any other file it reads as All does.
func (q *Queue) Find(mids ...string) (map[string]Entry, error) {
	s := search{asked: make(map[string]bool, len(mids)), found: map[string]Entry{}}
	for _, mid := range mids {
		s.asked[mid] = true
	}
	known, err := q.search(&s)
	if err != nil || known {
		return s.found, err
	}
	clear(s.found)
	for e, err := range q.All() {
		if err != nil {
			return nil, err
		}
		s.take(e)
	}
	return s.found, nil
}

// A search looks for messages in a list of which it takes apart as little as it can.
type search struct {
	asked map[string]bool
	found map[string]Entry
	ends  int  // lines without a comma
	odd   bool // a line makes no sense
}

// search answers false for a file that is short or of another writer, and for one that
// makes no sense where it looked: it may be in the middle of an edit.
func (q *Queue) search(s *search) (known bool, err error) {
	k, e, ok, err := q.glance(int64(q.readBytes))
	if err != nil || !ok {
		return false, err
	}
	defer k.file.Close()
	if s.take(e) {
		w := newWindow(k.file, k.size, q.readBytes)
		err = w.backward(k.first.end(), k.size-int64(len(closing)), s.look)
	}
	return err == nil && !s.odd, notCut(unlessLong(err))
}

// take notes an entry that was asked for, and reports whether others are to be found.
func (s *search) take(e Entry) (more bool) {
	if s.asked[e.MID] {
		s.found[e.MID] = e
	}
	return len(s.found) < len(s.asked)
}

// look looks at a line, and reports whether to go on.
func (s *search) look(text []byte) (more bool) {
	if len(bytes.TrimLeft(text, " ")) == 0 {
		return true // an entry was removed meanwhile
	}
	raw, comma := bytes.CutSuffix(text, []byte(","))
	if !comma {
		s.ends++
	}
	if s.odd = s.ends > 1 || text[0] != '{'; s.odd {
		return false
	}
	if mid, ok := ownID(raw); ok && !s.asked[string(mid)] {
		return true
	}
	e, err := decode(raw)
	if s.odd = err != nil; s.odd {
		return false
	}
	return s.take(e)
}

// ownID returns the id of an entry without taking its line apart. It answers false for a
// line that this package did not write, or not so, and for an id with escapes. The checksum
// stands for all that is not looked at, such as that there is no second id.
func ownID(line []byte) (mid []byte, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"mid":"`))
	end := plain(rest)
	if !ok || end == len(rest) || rest[end] != '"' {
		return nil, false
	}
	at := bytes.LastIndex(line, []byte(sumName))
	if at < 0 {
		return nil, false
	}
	var buf [32]byte
	sum := strconv.AppendUint(append(buf[:0], sumName...), uint64(checksum(line[:at])), 10)
	return rest[:end], string(line[at:]) == string(append(sum, '}'))
}

// backward calls do with the lines between two offsets at which lines begin and end, the
// last one first, until it says that this is enough. A line is valid during the call.
func (w *window) backward(at, end int64, do func(line []byte) (more bool)) error {
	for room := int64(w.room); at < end; {
		from := max(at, end-room)
		part, err := w.text(from, end)
		if err != nil {
			return err
		}
		begin := 0
		if from > at {
			if begin = bytes.IndexByte(part, '\n') + 1; begin == 0 {
				room *= 2 // a line is longer
				continue
			}
		}
		for _, line := range slices.Backward(bytes.Split(part[begin:], []byte("\n"))) {
			if !do(line) {
				return nil
			}
		}
		end, room = from+int64(begin)-1, int64(w.room)
	}
	return nil
}
