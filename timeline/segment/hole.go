package segment

import (
	"errors"
	"fmt"
	"os"
)

// maxProbes bounds the numbers that a listing looks up one by one.
const maxProbes = 256

// complement adds the segments that are there and that the reading of the
// directory has missed. It is not read at one moment: of a segment that is sealed
// meanwhile, the new name may come up in a place that was passed already, and the
// old one may be gone when its place is reached. So may the newest segment be, once
// there is a newer one. Numbers are contiguous from one, so that each segment that
// was missed is a hole, or the number behind the highest.
//
// A hole that stays is a segment that is missing.
func (l *Log) complement(ls *listing) error {
	holes := ls.holes(maxProbes + 1)
	if len(holes) > maxProbes {
		// What the first reading missed lies at rest since.
		if _, err := l.readNames(ls); err != nil {
			return err
		}
		holes = ls.holes(maxProbes)
	}
	found := false
	for _, n := range holes {
		there, err := l.probe(ls, n)
		if err != nil {
			return err
		}
		found = found || there
	}
	for {
		there, err := l.probe(ls, ls.top+1)
		if err != nil {
			return err
		}
		if !there {
			break
		}
		ls.top++
	}
	if found {
		ls.merge()
	}
	return nil
}

// unbroken reports that every number from one to the highest is that of a segment, and
// nothing else bears one.
func (ls *listing) unbroken() bool {
	return ls.top > 0 && len(ls.odd) == 0 && len(ls.holes(1)) == 0 && ls.segments[len(ls.segments)-1].n == ls.top
}

// holes returns the first numbers that no segment bears below the highest one.
func (ls *listing) holes(limit int) (holes []uint64) {
	next := uint64(1)
	for _, e := range ls.segments {
		for ; next < e.n && len(holes) < limit; next++ {
			holes = append(holes, next)
		}
		next = e.n + 1
	}
	for ; next <= ls.top && len(holes) < limit; next++ {
		holes = append(holes, next)
	}
	return holes
}

// probe looks for segment n by its names, and adds it if it is there. It looks for
// the plain file before and after the sealed one: whichever of the two is made from
// the other, one of them is there at each moment.
func (l *Log) probe(ls *listing, n uint64) (there bool, err error) {
	for i, path := range [3]string{l.plainPath(n), l.sealedPath(n), l.plainPath(n)} {
		if there, err = exists(path); err != nil {
			return false, fmt.Errorf("segment: %w", err)
		}
		if !there {
			continue
		}
		info, err := os.Lstat(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return false, fmt.Errorf("segment: %w", err)
		}
		if info.Mode().IsRegular() {
			ls.segments = append(ls.segments, entry{n: n, plain: i != 1, sealed: i == 1})
			return true, nil
		}
	}
	return false, nil
}
