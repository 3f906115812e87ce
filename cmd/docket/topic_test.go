package main

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func mustText(t *testing.T, name string) string {
	t.Helper()
	text, err := topic{name: name}.text()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTopicsAreText(t *testing.T) {
	for _, topic := range topics {
		text := mustText(t, topic.name)
		if !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") {
			t.Errorf("%s does not end in one newline", topic.name)
		}
		for i, line := range strings.Split(text, "\n") {
			if n := len([]rune(line)); n > 115 || n > 88 && topic.name != "formats" {
				t.Errorf("%s:%d has %d characters", topic.name, i+1, n)
			}
		}
	}
	entries, err := topicTexts.ReadDir("topics")
	if err != nil || len(entries) != len(topics) {
		t.Errorf("got %d texts of %d topics, %v", len(entries), len(topics), err)
	}
}

// What a topic tells to type can be typed: its verbs and flags exist.
func TestTopicsNameWhatThereIs(t *testing.T) {
	command := regexp.MustCompile("(?:`|: |   |^|, | )docket ([a-z-]+)((?: [A-Z]+)*)((?: --[a-z-]+)*)")
	for _, topic := range topics {
		for _, m := range command.FindAllStringSubmatch(mustText(t, topic.name), -1) {
			if isProse(m[1]) {
				continue
			}
			v, ok := verbNamed(m[1])
			if !ok {
				t.Errorf("%s: %q: no such verb", topic.name, m[0])
			}
			for _, flag := range strings.Fields(m[3]) {
				name := strings.TrimPrefix(flag, "--")
				if _, ok := flagNamed(name, slices.Concat(v.flags, globalFlags())); !ok {
					t.Errorf("%s: %q: no such flag", topic.name, m[0])
				}
			}
		}
	}
}

// isProse recognises words that follow the name of docket in a sentence.
func isProse(word string) bool {
	return slices.Contains([]string{"process", "writes", "session", "commands", "promises"}, word)
}

// The topic and the README promise the same.
func TestGuaranteesAreThoseOfTheReadme(t *testing.T) {
	text := mustText(t, "guarantees")
	_, table, _ := strings.Cut(readme(t), "\n## What is promised\n")
	table, _, _ = strings.Cut(table, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \| [^|]+ \|$`).FindAllStringSubmatch(table, -1)
	if len(rows) < 5 {
		t.Fatalf("got %d rows in the README", len(rows))
	}
	for _, row := range rows {
		after := strings.ReplaceAll(row[1], "`", "")
		if strings.Trim(after, "- ") != "" && after != "after" && !strings.Contains(text, "\n"+after+"\n   ") {
			t.Errorf("guarantees says nothing about %q", after)
		}
	}
}

func TestFormatsShowTheFilesOfTheReadme(t *testing.T) {
	_, tree, _ := strings.Cut(readme(t), "\n## The files\n")
	_, tree, _ = strings.Cut(tree, "\n```\n")
	tree, _, _ = strings.Cut(tree, "\n```\n")
	if tree == "" || !strings.Contains(mustText(t, "formats"), tree) {
		t.Errorf("formats does not show\n%s", tree)
	}
}

func TestExitStatusesAreAllExplained(t *testing.T) {
	text := mustText(t, "exit-status")
	for _, r := range rules() {
		if !regexp.MustCompile(`(?m)^   ` + strconv.Itoa(r.status) + `  `).MatchString(text) {
			t.Errorf("exit-status says nothing about %d", r.status)
		}
	}
	for _, status := range []int{statusDone, statusUsage} {
		if !strings.Contains(text, "\n   "+strconv.Itoa(status)+"  ") {
			t.Errorf("exit-status says nothing about %d", status)
		}
	}
}

func TestAdaptersTopicNamesThemAll(t *testing.T) {
	text := mustText(t, "adapters")
	for _, k := range kinds() {
		if !regexp.MustCompile(`(?m)^([a-z]+, )?` + k.Name + `\b`).MatchString(text) {
			t.Errorf("adapters says nothing about %s", k.Name)
		}
	}
}
