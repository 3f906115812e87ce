package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// docketHelp is what docket --help prints.
func docketHelp() []byte {
	return aligned(func(w io.Writer) {
		fmt.Fprintf(w, `NAME:
   docket - messages to agents: recorded, owed until delivered, never lost

USAGE:
   docket VERB [ARGUMENTS] [FLAGS]

   The exit status is 0 done, 1 failed, 2 wrong usage, 3 no such session or message,
   4 refused input, 5 corrupt state found, 6 deadline passed, 7 still owed (drain only).

   docket help TOPIC explains more: %s.

VERSION:
   %s

COMMANDS:
`, strings.Join(topicNames(), ", "), version())
		for v := range shownVerbs() {
			fmt.Fprintf(w, "   %s\t%s\n", v.name, v.short)
		}
		fmt.Fprint(w, "\nGLOBAL OPTIONS:\n")
		for _, f := range globalFlags() {
			fmt.Fprintf(w, "   %s\n", f.help())
		}
	})
}

// help is what docket VERB --help prints.
func (v verb) help() []byte {
	return aligned(func(w io.Writer) {
		fmt.Fprintf(w, "docket %s - %s\n\n   %s\n", v.name, v.short, strings.TrimSpace("docket "+v.name+" "+v.args))
		if remarks := v.remarks(); remarks != "" {
			fmt.Fprintf(w, "\n%s\n", remarks)
		}
		fmt.Fprint(w, "\nFlags, before or after the arguments (and --store, --json, --verbose, --lock-wait):\n")
		all := globalFlags()
		for _, f := range append(v.flags, all[len(all)-1]) { // --help is the last
			fmt.Fprintf(w, "   %s\n", f.help())
		}
		fmt.Fprintf(w, "\nExample:\n%s\n", indent(v.example, "   "))
	})
}

// aligned returns what write writes, with the text behind tabs in columns.
func aligned(write func(w io.Writer)) []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 1, 8, 2, ' ', 0)
	write(w)
	w.Flush() // into memory
	return b.Bytes()
}

// remarks are what help says about the arguments of v.
func (v verb) remarks() string {
	lines := v.more
	switch {
	case strings.HasPrefix(v.args, "[ID"):
		lines = "Without ID it is about the session that $DOCKET_SESSION names.\n" + lines
	case strings.HasPrefix(v.args, "ID"):
		lines = "The session must be named: $DOCKET_SESSION does not stand for it here.\n" + lines
	}
	return strings.TrimSuffix(lines, "\n")
}

// help is the line about f: its names with what it takes, a tab, and what it is for.
func (f verbFlag) help() string {
	what, usage := "value", f.usage
	if before, rest, ok := strings.Cut(usage, "`"); ok {
		var behind string
		what, behind, _ = strings.Cut(rest, "`")
		usage = before + what + behind
	}
	names := "--" + f.name
	switch {
	case f.also != "":
		names += ", -" + f.also
	case f.takes == several:
		names += " " + what
		names += " [ " + names + " ]"
	case f.takes != nothing:
		names += " " + what
	}
	return names + "\t" + usage + f.defaultHelp()
}

func (f verbFlag) defaultHelp() string {
	switch {
	case f.unset != "":
		return " (default: " + f.unset + ")"
	case f.initial == "":
		return ""
	case f.takes == aText:
		return fmt.Sprintf(" (default: %q)", f.initial)
	}
	return " (default: " + f.initial + ")"
}
