package main

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func TestSpot(t *testing.T) {
	for _, tt := range []struct {
		name  string
		words []string
		want  spot
	}{
		{"nothing yet", nil, spot{}},
		{"the verb", []string{"se"}, spot{word: "se"}},
		{"behind a flag of all", []string{"--json", "se"}, spot{word: "se", given: given("json", "")}},
		{"an argument", []string{"send", "wo"}, spot{verb: "send", word: "wo"}},
		{"a flag", []string{"send", "w", "--fr"}, spot{verb: "send", args: []string{"w"}, word: "--fr"}},
		{"its value", []string{"send", "--from", "le"}, spot{verb: "send", flag: "from", word: "le"}},
		{"with an equals sign", []string{"send", "--from=le"}, spot{verb: "send", flag: "from", prefix: "--from=", word: "le"}},
		{"which is a word of its own", []string{"send", "--from", "=", "le"}, spot{verb: "send", flag: "from", word: "le"}},
		{"and the last one", []string{"send", "--from", "="}, spot{verb: "send", flag: "from"}},
		{"behind a value", []string{"send", "--from", "lead", "w"}, spot{verb: "send", word: "w", given: given("from", "lead")}},
		{"behind one with an equals sign", []string{"send", "--from=lead", "w"}, spot{verb: "send", word: "w", given: given("from", "lead")}},
		{"behind a flag without a value", []string{"drain", "--all", "w"}, spot{verb: "drain", word: "w", given: given("all", "")}},
		{"behind --", []string{"send", "w", "--", "--fr"}, spot{verb: "send", args: []string{"w"}, literal: true, word: "--fr"}},
		{"a hyphen", []string{"send", "w", "-"}, spot{verb: "send", args: []string{"w"}, word: "-"}},
		{"a flag that is not known", []string{"send", "--form", "w"}, spot{verb: "send", word: "w", given: given("", "")}},
	} {
		if tt.want.given == nil {
			tt.want.given = given()
		}
		if got := spotOf(tt.words); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func given(pairs ...string) map[string][]string {
	m := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = append(m[pairs[i]], pairs[i+1])
	}
	return m
}

// Nothing that may be typed is more than it can take.
func TestSpotOfAnything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.OneOf(rapid.SampledFrom([]string{"", "-", "--", "=", "--=", "-=x", "send", "--from", "--from=", "ID"}), rapid.String())
		words := rapid.SliceOfN(word, 1, 8).Draw(rt, "words")
		s := spotOf(words)
		if last := words[len(words)-1]; s.prefix+s.word != last && last != "=" {
			rt.Fatalf("%q: got %q and %q, which is not the last word", words, s.prefix, s.word)
		}
	})
}
