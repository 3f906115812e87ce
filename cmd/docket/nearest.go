package main

import (
	"slices"
	"strings"
)

// nearest returns the one of the words that was most likely meant by what somebody
// typed: at most one slip away, or two where the word is long. Empty means that none
// is.
func nearest(typed string, words []string) string {
	slices.Sort(words)
	best, least := "", 3
	for _, w := range words {
		d := slips(typed, w)
		if d > 1 && len(w) < 5 {
			continue
		}
		if d < least && d < min(len(w), len(typed)) {
			best, least = w, d
		}
	}
	return best
}

// slips counts the letters that must be added, left out, changed or swapped with
// their neighbour to turn a into b.
func slips(a, b string) int {
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			same := 1
			if a[i] == b[j] {
				same = 0
			}
			row[j+1] = min(last[j]+same, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}

// meant returns the session of the store whose id differs from the given one in nothing
// but case and the signs between its words, if exactly one does. Ids that differ in more
// may well be those of two agents, as worker-1 and worker-2 are.
func (c *call) meant(id string) string {
	found := ""
	for other, err := range c.store.IDs(c.hard) {
		switch {
		case err != nil:
			return ""
		case core(other) != core(id):
		case found != "":
			return ""
		default:
			found = other
		}
	}
	return found
}

// core is what is left of an id without case and the signs between its words.
func core(id string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(id))
}
