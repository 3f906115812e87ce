package host_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/docket-go/docket/adapter/host"
)

func TestRedact(t *testing.T) {
	for said, want := range map[string]string{
		"": "",
		"Quota exceeded, try again in 30 seconds":                           "Quota exceeded, try again in 30 seconds",
		"model not found: stub":                                             "model not found: stub",
		"status 401 Unauthorized, url: http://127.0.0.1:18999/v1/responses": "status 401 Unauthorized, url: …",
		"bad key sk-abcdef1234":                                             "bad key …",
		"bad key sk-abc\u200bdef1234":                                       "bad key …", // split by what nobody sees
		"AKIAIOSFODNNEXAMPLEKEYWITHOUTDIGITS":                               "…",
		"Bearer abc":                                                        "…",
		"the password: abc is wrong":                                        "the … is wrong",
		"open /etc/passwd: denied":                                          "open … denied",
		"see http://h:8080/x?y=z.":                                          "see …",
		"a\nb":                                                              "a",
		"\x1b[mred\xff":                                                     "[mred",
		`{"error":{"message":"a {\"b\":1}"}}`:                               "a",
		`x {"message":"deep"} y`:                                            "deep",
		`API {"broken`:                                                      "API",
		`{"prompt":"what somebody wrote"}`:                                  "",
		strings.Repeat("many ", 100):                                        strings.TrimSpace(strings.Repeat("many ", 40)),
	} {
		if got := host.Redact(said); got != want {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
}

// What is kept is bounded, acts on no terminal, names no address or path, and has
// nothing left to hide.
func FuzzRedact(f *testing.F) {
	for _, seed := range []string{
		"bearer token: basic x=y", "12345bearer a", "\xff\u200b\x00{", `{"message":"{"}`, strings.Repeat("…", 100), strings.Repeat("é/", 500),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, said string) {
		got := host.Redact(said)
		hidden := func(r rune) bool { return !unicode.IsPrint(r) || strings.ContainsRune(`=@/\{`, r) }
		if len(got) > 200 || !utf8.ValidString(got) || strings.ContainsFunc(got, hidden) {
			t.Errorf("got %q", got)
		}
		if again := host.Redact(got); again != got {
			t.Errorf("got %q, and of that %q", got, again)
		}
	})
}

func TestClipAndPrintable(t *testing.T) {
	for _, tt := range []struct {
		text  string
		limit int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "abc"}, {"aé", 2, "a"}, {"aé", 3, "aé"}, {"é", 1, ""}, {"a", 0, ""}, {"", 0, ""},
	} {
		if got := host.Clip(tt.text, tt.limit); got != tt.want {
			t.Errorf("%q in %d bytes: got %q, want %q", tt.text, tt.limit, got, tt.want)
		}
	}
	for text, want := range map[string]string{
		" a b ": "a b", "\x1b[31mred": "[31mred", "a\u202eb": "ab", "a\nb\tc\x00": "abc", "a\xff\ufffdb": "ab", "é世": "é世",
	} {
		if got := host.Printable(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for command, want := range map[string]string{
		"": "", "  ": "", "ls": "ls", "/usr/bin/curl https://x": "curl", "g++ a.c": "g++", "A=secret curl": "", "'ls' x": "", "./run.sh -x": "run.sh",
		strings.Repeat("x", 41): "", strings.Repeat("x", 40) + " y": strings.Repeat("x", 40), "$(secret)": "", "4242": "",
	} {
		if got := host.ProgramName(command); got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
	for name, want := range map[string]string{"search": "search", "a b": "", "/bin/ls": "", "": "", "x\n": ""} {
		if got := host.PlainName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
