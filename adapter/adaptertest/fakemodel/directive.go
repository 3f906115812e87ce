package fakemodel

import (
	"encoding/json"
	"regexp"
	"strconv"
	"time"
)

var (
	sleepIn  = regexp.MustCompile(`\[\[sleep ([0-9a-zµ.]+)\]\]`)
	slowIn   = regexp.MustCompile(`\[\[slow ([0-9a-zµ.]+)\]\]`)
	waitIn   = regexp.MustCompile(`\[\[wait ([^\]\s]+)\]\]`)
	statusIn = regexp.MustCompile(`\[\[status ([0-9]{3})\]\]`)
	cutIn    = regexp.MustCompile(`\[\[cut\]\]`)
	toolIn   = regexp.MustCompile(`(?s)\[\[tool (\S+) (\{.*?\})\]\]`)
)

// directives is the trouble that a text asks for.
type directives struct {
	sleep, slow time.Duration
	wait        string
	status      int
	cut         bool
	tool, input string // the tool's name and its arguments in JSON
}

func directivesIn(text string) (d directives) {
	d.sleep, _ = time.ParseDuration(first(sleepIn, text))
	d.slow, _ = time.ParseDuration(first(slowIn, text))
	d.wait = first(waitIn, text)
	d.status, _ = strconv.Atoi(first(statusIn, text))
	d.cut = cutIn.MatchString(text)
	if m := toolIn.FindStringSubmatch(text); m != nil && json.Valid([]byte(m[2])) {
		d.tool, d.input = m[1], m[2]
	}
	return d
}

func first(pattern *regexp.Regexp, text string) string {
	if m := pattern.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
