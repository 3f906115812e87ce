package main

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
	"pgregory.net/rapid"
)

// theGrammar is that of docket itself.
func theGrammar() grammar {
	a := app(io.Discard, io.Discard, func(verb, *cli.Context) error { return nil })
	return newGrammar(a.Flags, a.Commands)
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name    string
		argv    string // words, with blanks between
		args    string
		flags   string
		globals string
		literal int
	}{
		{"flags behind", "send w hello --key k", "w hello", "--key=k", "", 2},
		{"flags in front", "send --key k w hello", "w hello", "--key=k", "", 2},
		{"flags between", "send w --key=k hello", "w hello", "--key=k", "", 2},
		{"one hyphen", "send w -key k hello", "w hello", "--key=k", "", 2},
		{"global flags on both sides", "--store d send w --json hello", "w hello", "", "--store=d --json", 2},
		{"a value that looks like a flag", "ask w --note --json", "w", "--note=--json", "", 1},
		{"a lone hyphen is no flag", "send w -", "w -", "", "", 2},
		{"behind -- is no flag", "send w -- --key k -- -", "w --key k -- -", "", "", 1},
		{"-- in front of everything", "-- send w --json", "w --json", "", "", 0},
		{"a flag that is set to no", "send w --no-drain=false x", "w x", "--no-drain=false", "", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, err := theGrammar().parse(strings.Fields(tt.argv))
			if err != nil {
				t.Fatalf("got error %v, want none", err)
			}
			for _, part := range []struct{ name, got, want string }{
				{"args", strings.Join(in.args, " "), tt.args},
				{"flags", strings.Join(in.flags, " "), tt.flags},
				{"globals", strings.Join(in.globals, " "), tt.globals},
			} {
				if part.got != part.want {
					t.Errorf("%s: got %q, want %q", part.name, part.got, part.want)
				}
			}
			if in.literal != tt.literal {
				t.Errorf("literal: got %d, want %d", in.literal, tt.literal)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, argv, verb, say string
	}{
		{"an unknown verb", "shout w", "", `"shout" is no verb`},
		{"an unknown flag, with the way out", "send w --fast", "send", "docket send ID -- --fast"},
		{"an unknown short flag", "send w -5", "send", "unknown flag -5"},
		{"a flag of another verb", "ask w --key k", "ask", "unknown flag --key"},
		{"a verb's flag in front of the verb", "--key k send w", "", "stand after it"},
		{"a flag without its value", "send w x --key", "send", "--key has no value"},
		{"a slip in a verb", "snd w x", "", "did you mean docket send?"},
		{"a slip in a flag", "send w --fron lead", "send", "did you mean --from?"},
		{"an empty value", "send w x --from=", "send", "--from is empty"},
		{"a time without its unit", "wait w --timeout 5", "wait", "--timeout 5 has no unit: give a unit, such as 5s"},
		{"no number", "log w --limit ten", "log", "is no number"},
		{"neither yes nor no", "ls --json=maybe", "ls", "give the flag alone"},
		{"three hyphens", "send w ---key", "send", "unknown flag ---key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := theGrammar().parse(strings.Fields(tt.argv))
			var usage *usageError
			if !errors.As(err, &usage) {
				t.Fatalf("got %v, want a usage error", err)
			}
			if usage.verb != tt.verb || !strings.Contains(usage.text, tt.say) {
				t.Errorf("got %q about verb %q, want %q about %q", usage.text, usage.verb, tt.say, tt.verb)
			}
		})
	}
}

// Wherever the flags stand, the command line means the same.
func TestParseAnyOrder(t *testing.T) {
	g := theGrammar()
	rapid.Check(t, func(rt *rapid.T) {
		args := rapid.SliceOfN(rapid.StringMatching(`[^-\x00].*|-|`), 0, 5).Draw(rt, "args")
		flags := rapid.SliceOfN(rapid.SampledFrom([][]string{
			{"--key", "k"}, {"--key=k=l"}, {"--from", "-x"}, {"--attr", "a=b,c"}, {"--no-drain"}, {"-no-drain=false"},
			{"--reply-via", "--"}, {"--json"}, {"--store", "dir"}, {"--verbose=false"},
		}), 0, 6).Draw(rt, "flags")
		tail := rapid.SliceOfN(rapid.String(), 0, 3).Draw(rt, "tail")

		want, err := g.parse(slices.Concat([]string{"send"}, slices.Concat(flags...), args, []string{"--"}, tail))
		if err != nil {
			rt.Fatalf("flags first: %v", err)
		}
		mixed := []string{"send"}
		for a, f := 0, 0; a < len(args) || f < len(flags); {
			if f == len(flags) || a < len(args) && rapid.Bool().Draw(rt, "argument next") {
				mixed = append(mixed, args[a])
				a++
			} else {
				mixed = append(mixed, flags[f]...)
				f++
			}
		}
		got, err := g.parse(slices.Concat(mixed, []string{"--"}, tail))
		if err != nil {
			rt.Fatalf("mixed %q: %v", mixed, err)
		}
		if !slices.Equal(got.argv(), want.argv()) || !slices.Equal(got.args, want.args) || got.literal != want.literal {
			rt.Fatalf("mixed %q: got %+v, want %+v", mixed, got, want)
		}
		if !slices.Equal(got.args, append(slices.Clone(args), tail...)) {
			rt.Fatalf("got arguments %q, want %q and %q", got.args, args, tail)
		}
	})
}

// No command line makes the parser panic, lose an argument, or hand a word to the
// flag parser that is no flag.
func FuzzParse(f *testing.F) {
	f.Add("send\x00w\x00--\x00-x")
	f.Add("--store\x00d\x00ask\x00--note=\x00-")
	f.Add("--\x00log\x00--limit")
	g := theGrammar()
	f.Fuzz(func(t *testing.T, line string) {
		in, err := g.parse(strings.Split(line, "\x00"))
		if err != nil {
			return
		}
		if in.literal > len(in.args) {
			t.Fatalf("literal %d of %d arguments", in.literal, len(in.args))
		}
		for _, word := range in.argv()[1:] {
			if word != in.verb && !strings.HasPrefix(word, "--") {
				t.Fatalf("%q is no flag", word)
			}
		}
	})
}

// A flag may stand on either side of the verb only if no verb has one of the same
// name.
func TestFlagNamesAreUnique(t *testing.T) {
	g := theGrammar()
	for verb, flags := range g.verbs {
		for name := range flags {
			if _, both := g.globals[name]; both && name != "help" && name != "h" {
				t.Errorf("flag %s is docket's and %s's: rename one", name, verb)
			}
		}
	}
}
