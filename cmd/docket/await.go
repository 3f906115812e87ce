package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// displayWords are the words that surfaces show for the declarations that have a
// verb. An agent may declare others.
var displayWords = []string{"working", "idle", "asking", "parked", "review", "done", "error", "close-pending"}

// displayed are the display words for the words that people know from the verbs, or
// from what is stored.
var displayed = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"active":   {"working"},
		"ask":      {"asking"},
		"park":     {"parked"},
		"merge":    {"review"},
		"nothing":  {"done"},
		"close":    {"close-pending"},
		"awaiting": {"review", "done", "close-pending", "awaiting"},
	}
})

// wellFormed reports whether an agent could declare the word.
func wellFormed(word string) bool {
	return word != "" && len(word) <= 64 && 'a' <= word[0] && word[0] <= 'z' && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// awaited returns the display words that --for asks for.
func (c *call) awaited() ([]string, error) {
	var words []string
	for word := range strings.SplitSeq(c.flags.String("for"), ",") {
		word = strings.TrimSpace(word)
		switch {
		case word == "":
			return nil, &usageError{c.verb, "--for has an empty word: give words with commas between, such as done,error"}
		case !wellFormed(word):
			return nil, &usageError{c.verb, fmt.Sprintf("--for %q is no word that could be declared: give such as %s", word, alternatives(displayWords))}
		}
		meant, known := displayed()[word]
		if !known {
			meant = []string{word}
			c.doubt(word)
		}
		for _, w := range meant {
			if !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	return words, nil
}

// doubt says of a word to wait for that no verb declares it: it may be mistyped, or an
// agent's own.
func (c *call) doubt(word string) {
	if slices.Contains(displayWords, word) {
		return
	}
	meant := nearest(word, append(slices.Sorted(maps.Keys(displayed())), displayWords...))
	if meant == "" {
		meant = alternatives(displayWords)
	}
	c.report.line(c.report.subject, fmt.Sprintf("no declaration verb gives %s: did you mean %s? waiting for it nevertheless", word, meant))
}
