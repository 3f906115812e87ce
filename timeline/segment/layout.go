package segment

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	plainSuffix  = ".ndjson"
	sealedSuffix = ".ndjson.zst"
	draftSuffix  = ".tmp"
	numberDigits = 12
)

// An entry is one segment of the listing, in one form or in both.
type entry struct {
	n             uint64
	plain, sealed bool
}

// A listing is what the directory holds. The listing is the index: there is no
// other.
type listing struct {
	segments []entry  // in log order; the legacy segment is number zero
	top      uint64   // the highest number that any entry bears
	odd      []string // entries with a segment's name that are no plain files
	drafts   []string // what a seal that died left behind
}

func (l *Log) plainPath(n uint64) string {
	if n == 0 {
		return l.o.Legacy
	}
	return plainIn(l.o.Dir, n)
}

func (l *Log) sealedPath(n uint64) string {
	return filepath.Join(l.o.Dir, sealedName(n))
}

func plainName(n uint64) string  { return numberName(n) + plainSuffix }
func sealedName(n uint64) string { return numberName(n) + sealedSuffix }

// numberName writes a number in at least 12 digits.
func numberName(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	return "000000000000"[min(len(digits), numberDigits):] + digits
}

// parseName returns the number in the name of a segment file, zero if it is none.
func parseName(name string) (n uint64, sealed bool) {
	digits, ok := strings.CutSuffix(name, plainSuffix)
	if !ok {
		if digits, ok = strings.CutSuffix(name, sealedSuffix); !ok {
			return 0, false
		}
		sealed = true
	}
	n, err := strconv.ParseUint(digits, 10, 62)
	if err != nil || len(digits) < numberDigits || (len(digits) > numberDigits && digits[0] == '0') {
		return 0, false
	}
	return n, sealed
}

// list reads the directory. Neither directory nor legacy file need exist, but the
// session directory must: without it the error is [ErrClosed].
func (l *Log) list() (listing, error) {
	var ls listing
	if l.o.Legacy != "" {
		info, err := os.Lstat(l.o.Legacy)
		switch {
		case err == nil && info.Mode().IsRegular():
			ls.segments = append(ls.segments, entry{n: 0, plain: true})
		case err == nil:
			ls.odd = append(ls.odd, l.o.Legacy)
		case !errors.Is(err, os.ErrNotExist):
			return ls, fmt.Errorf("segment: %w", err)
		}
	}
	err := l.listDir(&ls)
	if err == nil && len(ls.segments) == 0 {
		err = l.present()
	}
	return ls, err
}

// listDir adds what the directory of the segments holds.
func (l *Log) listDir(ls *listing) error {
	there, err := l.readNames(ls)
	if err != nil || !there {
		return err
	}
	return l.complement(ls)
}

// readNames reads the directory once. Two readings into one listing are joined.
func (l *Log) readNames(ls *listing) (there bool, err error) {
	d, err := os.OpenFile(l.o.Dir, os.O_RDONLY|openFlags, 0)
	if isSymlinkRefusal(err) {
		return false, fmt.Errorf("segment: %w: it is a symbolic link: remove it", err)
	}
	if errors.Is(err, os.ErrNotExist) {
		return false, l.present()
	}
	if err != nil {
		return false, fmt.Errorf("segment: %w", err)
	}
	defer d.Close()
	found, err := l.disk.readDir(d)
	if err != nil {
		return false, fmt.Errorf("segment: %w", err)
	}
	for _, e := range found {
		ls.add(filepath.Join(l.o.Dir, e.Name()), e)
	}
	ls.merge()
	return true, nil
}

func (ls *listing) add(path string, e os.DirEntry) {
	if strings.HasSuffix(path, draftSuffix) {
		ls.drafts = append(ls.drafts, path)
		return
	}
	n, sealed := parseName(e.Name())
	if n == 0 {
		return
	}
	ls.top = max(ls.top, n)
	if !e.Type().IsRegular() {
		ls.odd = append(ls.odd, path)
		return
	}
	ls.segments = append(ls.segments, entry{n: n, plain: !sealed, sealed: sealed})
}

// merge sorts the entries and joins those of one segment into one.
func (ls *listing) merge() {
	slices.SortFunc(ls.segments, func(a, b entry) int { return cmp.Compare(a.n, b.n) })
	ls.odd = distinct(ls.odd)
	ls.drafts = distinct(ls.drafts)
	kept := ls.segments[:0]
	for _, e := range ls.segments {
		if last := len(kept) - 1; last >= 0 && kept[last].n == e.n {
			kept[last].plain = kept[last].plain || e.plain
			kept[last].sealed = kept[last].sealed || e.sealed
			continue
		}
		kept = append(kept, e)
	}
	ls.segments = kept
}

func distinct(paths []string) []string {
	slices.Sort(paths)
	return slices.Compact(paths)
}

// present returns nil while the session directory is there, else [ErrClosed].
func (l *Log) present() error {
	there, err := exists(l.lockDir)
	if err != nil {
		return fmt.Errorf("segment: %w", err)
	}
	if !there {
		return fmt.Errorf("%w: no session directory %s", ErrClosed, l.lockDir)
	}
	return nil
}

// index returns the place of segment n in the listing, or of the next higher one.
func (ls *listing) index(n uint64) (int, bool) {
	return slices.BinarySearchFunc(ls.segments, n, func(e entry, n uint64) int { return cmp.Compare(e.n, n) })
}
