package main

import (
	"context"
	"slices"
	"strings"

	"github.com/docket-go/docket/adapter/oneshot"
	"github.com/docket-go/docket/compose"
	"github.com/docket-go/docket/dispatch"
	"github.com/docket-go/docket/timeline/session"
)

// Whoever completes files knows more of them than docket.
var (
	files = []candidate{{":", "files"}}
	dirs  = []candidate{{":", "dirs"}}
)

// valuesOf returns what a flag may be given, where that is known.
func (k *completion) valuesOf(ctx context.Context, flag string) []candidate {
	switch flag {
	case "store", "cwd":
		return dirs
	case "token-file":
		return files
	case "from", "parent", "sender", "by":
		return k.sessions(ctx)
	case "as":
		if k.verb == "host" {
			return presetCandidates()
		}
		return k.sessions(ctx)
	case "redeliver":
		if len(k.args) == 0 {
			return nil
		}
		return k.messages(ctx, k.args[0])
	case "adapter":
		return kindCandidates()
	case "set":
		return k.settings("=")
	case "unset":
		return k.settings("")
	case "reply-via":
		return wordCandidates(string(compose.Note), string(compose.Terminal))
	case "status":
		return wordCandidates(session.StatusActive, session.StatusIdle, session.StatusAsking, session.StatusParked, session.StatusAwaiting, session.StatusError)
	case "proposal":
		return wordCandidates(session.ProposalMerge, session.ProposalNothing, session.ProposalClose)
	case "for":
		return k.listed(displayWords)
	}
	return nil
}

// listed completes the last word of a list with commas between.
func (k *completion) listed(words []string) (list []candidate) {
	i := strings.LastIndexByte(k.word, ',') + 1
	for _, w := range words {
		list = append(list, candidate{value: k.word[:i] + w})
	}
	return list
}

// settings are those of the adapter that the command line names, or that the session
// has which is to be changed. What follows their names goes behind each.
func (k *completion) settings(follows string) (list []candidate) {
	var name string
	if given := k.given["adapter"]; len(given) > 0 {
		name = given[len(given)-1]
	} else if k.verb == "set" && len(k.args) > 0 {
		name = k.adapterOf(k.args[0])
	}
	kind, err := kinds().Kind(name)
	if err != nil {
		return nil
	}
	for _, s := range kind.AllSettings() {
		list = append(list, candidate{s.Name + follows, s.Doc})
	}
	return list
}

// adapterOf is the adapter of a session, empty if that cannot be told.
func (k *completion) adapterOf(id string) string {
	s, err := k.store.Open(id)
	if err != nil {
		return ""
	}
	defer s.Release()
	r, err := s.Record()
	if err != nil {
		return ""
	}
	return r.Adapter
}

// sessions are those of the store that begin as what is typed, without those that
// are named already.
func (k *completion) sessions(ctx context.Context) (list []candidate) {
	for id, err := range k.store.IDs(ctx) {
		if err != nil {
			break
		}
		if strings.HasPrefix(id, k.word) && !slices.Contains(k.args, id) {
			list = append(list, candidate{value: id})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int { return strings.Compare(a.value, b.value) })
	if len(list) <= maxDescribed {
		for i := range list {
			list[i].about = k.present(list[i].value)
		}
	}
	return list
}

// present says what a session does, in a few words.
func (k *completion) present(id string) string {
	s, err := k.store.Open(id)
	if err != nil {
		return ""
	}
	defer s.Release()
	r, err := s.Record()
	if err != nil {
		return "unreadable"
	}
	d := r.Authored()
	return strings.TrimSuffix(displayWord(d.Status, d.Proposal)+": "+r.Title, ": ")
}

// messages are those that a session is owed.
func (k *completion) messages(ctx context.Context, id string) (list []candidate) {
	d := dispatch.New(k.store, dispatch.Options{})
	defer d.Close()
	for e, err := range d.Debts(ctx, id) {
		if err != nil {
			return nil
		}
		list = append(list, candidate{e.MID, clip(e.Text)})
	}
	return list
}

func kindCandidates() (list []candidate) {
	for _, kind := range kinds() {
		list = append(list, candidate{kind.Name, kind.Doc})
	}
	return list
}

func presetCandidates() (list []candidate) {
	for _, p := range oneshot.Presets() {
		list = append(list, candidate{value: p.Name})
	}
	return list
}

func topicCandidates() (list []candidate) {
	for _, t := range topics {
		list = append(list, candidate{t.name, t.short})
	}
	return list
}

func wordCandidates(words ...string) (list []candidate) {
	for _, w := range words {
		list = append(list, candidate{value: w})
	}
	return list
}
