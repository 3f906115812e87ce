package main

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name    string
		argv    string // words, with blanks between
		args    string
		flags   string // with their values, by name
		literal int
	}{
		{"flags behind", "send w hello --key k", "w hello", "key=k", 2},
		{"flags in front", "send --key k w hello", "w hello", "key=k", 2},
		{"flags between", "send w --key=k hello", "w hello", "key=k", 2},
		{"one hyphen", "send w -key k hello", "w hello", "key=k", 2},
		{"global flags on both sides", "--store d send w --json hello", "w hello", "json=true store=d", 2},
		{"a value that looks like a flag", "ask w --note --json", "w", "note=--json", 1},
		{"a lone hyphen is no flag", "send w -", "w -", "", 2},
		{"behind -- is no flag", "send w -- --key k -- -", "w --key k -- -", "", 1},
		{"-- in front of everything", "-- send w --json", "w --json", "", 0},
		{"a flag that is given twice", "send w --attr a=b --attr c=d x", "w x", "attr=a=b attr=c=d", 2},
		{"the name of one letter", "send w -h", "w", "help=true", 1},
		{"a flag that is set to no", "send w --no-drain=false x", "w x", "no-drain=false", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in, err := parse(strings.Fields(tt.argv))
			if err != nil {
				t.Fatalf("got error %v, want none", err)
			}
			for _, part := range []struct{ name, got, want string }{
				{"args", strings.Join(in.args, " "), tt.args},
				{"flags", strings.Join(in.flags.list(), " "), tt.flags},
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
			_, err := parse(strings.Fields(tt.argv))
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
	rapid.Check(t, func(rt *rapid.T) {
		args := rapid.SliceOfN(rapid.StringMatching(`[^-\x00].*|-|`), 0, 5).Draw(rt, "args")
		flags := rapid.SliceOfN(rapid.SampledFrom([][]string{
			{"--key", "k"}, {"--key=k=l"}, {"--from", "-x"}, {"--attr", "a=b,c"}, {"--no-drain"}, {"-no-drain=false"},
			{"--reply-via", "--"}, {"--json"}, {"--store", "dir"}, {"--verbose=false"},
		}), 0, 6).Draw(rt, "flags")
		tail := rapid.SliceOfN(rapid.String(), 0, 3).Draw(rt, "tail")

		want, err := parse(slices.Concat([]string{"send"}, slices.Concat(flags...), args, []string{"--"}, tail))
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
		got, err := parse(slices.Concat(mixed, []string{"--"}, tail))
		if err != nil {
			rt.Fatalf("mixed %q: %v", mixed, err)
		}
		if !maps.EqualFunc(got.flags.values, want.flags.values, slices.Equal) || !slices.Equal(got.args, want.args) || got.literal != want.literal {
			rt.Fatalf("mixed %q: got %+v, want %+v", mixed, got, want)
		}
		if !slices.Equal(got.args, append(slices.Clone(args), tail...)) {
			rt.Fatalf("got arguments %q, want %q and %q", got.args, args, tail)
		}
	})
}

// No command line makes the parser panic, lose an argument, or take a word for a flag
// that the verb does not have.
func FuzzParse(f *testing.F) {
	f.Add("send\x00w\x00--\x00-x")
	f.Add("--store\x00d\x00ask\x00--note=\x00-")
	f.Add("--\x00log\x00--limit")
	f.Fuzz(func(t *testing.T, line string) {
		in, err := parse(strings.Split(line, "\x00"))
		if err != nil {
			return
		}
		if in.literal > len(in.args) {
			t.Fatalf("literal %d of %d arguments", in.literal, len(in.args))
		}
		for name := range in.flags.values {
			f, known := flagNamed(name, slices.Concat(globalFlags(), in.verb.flags))
			if !known || f.name != name {
				t.Fatalf("%q is no flag", name)
			}
			for _, value := range in.flags.values[name] {
				if fault := f.fault(value); fault != "" {
					t.Fatalf("--%s=%q %s", name, value, fault)
				}
			}
		}
	})
}

// list returns the flags with their values, in the order of their names.
func (g givenFlags) list() (all []string) {
	for _, name := range slices.Sorted(maps.Keys(g.values)) {
		for _, value := range g.values[name] {
			all = append(all, name+"="+value)
		}
	}
	return all
}

// A flag may stand on either side of the verb only if no verb has one of the same
// name.
func TestFlagNamesAreUnique(t *testing.T) {
	for v := range verbs {
		names := flagNames(slices.Concat(v.flags, globalFlags()))
		slices.Sort(names)
		for i := 1; i < len(names); i++ {
			if names[i] == names[i-1] {
				t.Errorf("docket %s has two flags %s: rename one", v.name, names[i])
			}
		}
	}
}

// What a flag is where it is not given is nothing that could not be given.
func TestInitialValues(t *testing.T) {
	for v := range verbs {
		for _, f := range slices.Concat(v.flags, globalFlags()) {
			if f.initial == "" {
				continue
			}
			if fault := f.fault(f.initial); fault != "" || f.takes == nothing || f.takes == several {
				t.Errorf("docket %s: --%s=%s %s", v.name, f.name, f.initial, fault)
			}
		}
	}
}

// The table finds each verb by the name that it has.
func TestTable(t *testing.T) {
	for _, row := range table() {
		if got := row.verb().name; got != row.name {
			t.Errorf("the row %s makes %s", row.name, got)
		}
		if v, ok := verbNamed(row.name); !ok || v.name != row.name {
			t.Errorf("got %q by the name %s", v.name, row.name)
		}
	}
}
