package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

// shown are the verbs for people.
func shown() (all []verb) {
	for v := range verbs {
		if !v.hidden {
			all = append(all, v)
		}
	}
	return all
}

func TestEveryVerbExplainsItself(t *testing.T) {
	for _, v := range shown() {
		if v.name == "help" {
			continue // explains docket
		}
		var out, complaint bytes.Buffer
		if status := run(t.Context(), t.Context(), []string{v.name, "--help"}, strings.NewReader(""), &out, &complaint); status != statusDone {
			t.Errorf("docket %s --help: status %d: %s", v.name, status, &complaint)
		}
		for _, want := range []string{v.short, "docket " + v.name, "Example:\n   docket " + v.name} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("docket %s --help does not show %q:\n%s", v.name, want, &out)
			}
		}
		if strings.HasSuffix(v.short, ".") || unicode.IsUpper(rune(v.short[0])) {
			t.Errorf("docket %s: %q: lower case and no full stop", v.name, v.short)
		}
	}
}

// The scripts are the manual, so every verb and every flag is in one.
func TestEveryVerbAndFlagHasAScript(t *testing.T) {
	for _, v := range shown() {
		files, err := filepath.Glob(filepath.Join("testdata", "script", v.name+"*.txt"))
		if err != nil || len(files) == 0 {
			t.Errorf("no script is named after %s (%v)", v.name, err)
		}
		var scripts bytes.Buffer
		for _, file := range files {
			script, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			scripts.Write(script)
		}
		for _, f := range v.flags {
			use := regexp.MustCompile(`(?m)docket.* (` + v.name + ` .*)?--` + f.name + `\b`)
			if !use.Match(scripts.Bytes()) {
				t.Errorf("no script of %s uses --%s", v.name, f.name)
			}
		}
	}
}

// Every status that is documented is met in a script.
func TestEveryStatusHasAScript(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var scripts bytes.Buffer
	for _, file := range files {
		script, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(script)
	}
	for _, status := range []string{"1", "2", "3", "4", "5", "6", "7"} {
		if !strings.Contains(scripts.String(), "\nstatus "+status+" docket ") {
			t.Errorf("no script meets status %s", status)
		}
	}
}
