package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"
)

// mayBeEmpty are the flags for text of people, which may be no text, and the one for
// cursors, which are looked at later.
var mayBeEmpty = []string{"note", "proposal", "title", "after"}

// faultIn returns what says what is wrong with a value of f, in words that go behind
// the flag's name.
func faultIn(f cli.Flag) func(value string) string {
	switch f.(type) {
	case *cli.DurationFlag:
		return durationFault
	case *cli.IntFlag:
		return numberFault
	case *cli.BoolFlag:
		return boolFault
	case *cli.StringFlag:
		if !slices.Contains(mayBeEmpty, f.Names()[0]) {
			return emptyFault
		}
	}
	return nil
}

func durationFault(value string) string {
	if _, err := time.ParseDuration(value); err == nil {
		return ""
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil {
		return fmt.Sprintf("%s has no unit: give a unit, such as 5s", value)
	}
	return fmt.Sprintf("%q is no time: give one such as 90s or 30m", value)
}

func numberFault(value string) string {
	if _, err := strconv.Atoi(value); err == nil {
		return ""
	}
	return fmt.Sprintf("%q is no number: give one such as 20", value)
}

func boolFault(value string) string {
	if _, err := strconv.ParseBool(value); err == nil {
		return ""
	}
	return fmt.Sprintf("%q is neither true nor false: give the flag alone", value)
}

func emptyFault(value string) string {
	if value != "" {
		return ""
	}
	return "is empty: give a value, or leave the flag out"
}
