package main

import (
	"embed"
	"strings"
)

// A topic is something that help explains beside the verbs. Its text is in the
// folder topics.
type topic struct {
	name  string
	short string // one line
}

// topics are the topics, in the order in which docket help shows them.
var topics = []topic{
	{"agents", "what to paste into the AGENTS.md or CLAUDE.md of an agent"},
	{"guarantees", "what is promised after a crash, a power cut, a full disk"},
	{"formats", "the files of a store, and their lines"},
	{"adapters", "how to choose an adapter"},
	{"exit-status", "what each exit status means"},
	{"trouble", "what to do, by what you see"},
}

//go:embed topics/*.txt
var topicTexts embed.FS

// text returns what help says about t.
func (t topic) text() (string, error) {
	text, err := topicTexts.ReadFile("topics/" + t.name + ".txt")
	return string(text), err
}

func topicNames() (names []string) {
	for _, t := range topics {
		names = append(names, t.name)
	}
	return names
}

// topicList is a table of the topics.
func topicList() string {
	var list strings.Builder
	for _, t := range topics {
		list.WriteString("   " + t.name + strings.Repeat(" ", 14-len(t.name)) + t.short + "\n")
	}
	return list.String()
}
