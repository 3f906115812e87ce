package main

import (
	"context"
	"slices"
	"strings"

	"github.com/docket-go/docket/timeline/session"
)

// maxDescribed is how many sessions are looked into for what completion says about
// them; of more, the names alone are told.
const maxDescribed = 64

// completeVerb is what the scripts of completion ask. Behind -- stand the words of
// the command line up to the one that is being typed. It answers a line for each
// candidate, which is followed by a tab and what it is, or ":", a tab, and files or
// dirs where the shell knows better. It never complains: there is somebody typing.
func completeVerb() verb {
	return verb{
		name: "complete", args: "SHELL -- WORD...", min: 1, max: -1, run: runComplete, hidden: true,
		brief: true,
		short: "answer what a shell asks", example: "docket complete bash -- send wor",
	}
}

// A candidate is one way to complete a word.
type candidate struct {
	value string
	about string // one line for people; may be empty
}

// A completion finds what there is to complete a word with.
type completion struct {
	call  *call
	store *session.Store // the one that the command line names
	spot
}

func runComplete(ctx context.Context, c *call) error {
	k := completion{call: c, store: c.store, spot: spotOf(c.args[c.literal:])}
	if dir := k.given["store"]; len(dir) > 0 {
		store, err := session.OpenStore(dir[len(dir)-1], session.Options{})
		if err != nil {
			return nil
		}
		k.store = store
	}
	for _, found := range k.candidates(ctx) {
		if found.value == ":" || strings.HasPrefix(found.value, k.word) && plainWord(found.value) {
			k.print(found)
		}
	}
	return nil
}

// plainWord reports whether a shell takes s as it is. What other programs have written
// may hold anything, and is run when the line is.
func plainWord(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-=,:/@+", r) {
			return false
		}
	}
	return s != ""
}

// print prints one candidate. bash alone takes what follows the "=" of a flag for a
// word of its own.
func (k *completion) print(found candidate) {
	if found.value != ":" && (k.call.args[0] != "bash" || !strings.HasSuffix(k.prefix, "=")) {
		found.value = k.prefix + found.value
	}
	if found.about != "" {
		found.value += "\t" + strings.ReplaceAll(oneLine(found.about), "\t", " ")
	}
	k.call.out.people("%s\n", found.value)
}

func (k *completion) candidates(ctx context.Context) []candidate {
	switch {
	case k.flag != "":
		return k.valuesOf(ctx, k.flag)
	case !k.literal && strings.HasPrefix(k.word, "-"):
		return k.flags()
	case k.verb == "":
		return k.verbs()
	}
	return k.arguments(ctx)
}

func (k *completion) verbs() (list []candidate) {
	for v := range shownVerbs() {
		list = append(list, candidate{v.name, v.short})
	}
	return list
}

// flags are those of the verb, then those of all.
func (k *completion) flags() (list []candidate) {
	v, _ := verbNamed(k.verb)
	for _, f := range slices.Concat(v.flags, globalFlags()) {
		list = append(list, candidate{"--" + f.name, strings.ReplaceAll(f.usage, "`", "")})
	}
	return list
}

// arguments are what the usage of the verb has at this place.
func (k *completion) arguments(ctx context.Context) []candidate {
	v, known := verbNamed(k.verb)
	if !known {
		return nil
	}
	places := strings.Fields(v.args)
	n := len(k.args)
	if n >= len(places) {
		if len(places) == 0 || !strings.HasSuffix(places[len(places)-1], "...") {
			return nil
		}
		n = len(places) - 1
	}
	switch strings.Trim(places[n], "[].") {
	case "ID", "ID|--all", "ID|PATTERN", "PATTERN":
		return k.sessions(ctx)
	case "MID":
		return k.messages(ctx, k.args[0])
	case "VERB|TOPIC":
		return append(k.verbs(), topicCandidates()...)
	case "NAME":
		return kindCandidates()
	case "bash|zsh|fish":
		return wordCandidates(shells...)
	}
	return nil
}
