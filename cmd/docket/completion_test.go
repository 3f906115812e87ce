//go:build unix

package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// Each shell asks the way its users type, in a store with these sessions.
func TestCompletionInShells(t *testing.T) {
	b := newBox(t)
	for _, id := range []string{"worker-1", "worker-2", "lead"} {
		b.must("new", id, "--title", "of "+id)
	}
	ask := map[string]func(typed string) string{
		"bash": func(typed string) string {
			return `eval "$(docket completion bash)"; line=` + quote("docket "+typed) + `
				compopt() { echo "$2" >&3; }
				COMP_WORDS=(${line//=/ = }); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
				case $line in *[\ =]) COMP_WORDS+=(""); COMP_CWORD=$((COMP_CWORD + 1)) ;; esac
				_docket 3>/dev/null; printf '%s\n' "${COMPREPLY[@]}"`
		},
		"zsh": func(typed string) string {
			return `compdef() {}; source <(docket completion zsh); compadd() { print -rl -- "${values[@]}" }
				line=` + quote("docket "+typed) + `; words=("${(@s: :)line}"); CURRENT=${#words}; _docket`
		},
		"fish": func(typed string) string {
			return `docket completion fish | source; complete -C ` + quote("docket "+typed)
		},
	}
	for _, tt := range []struct {
		typed string
		want  []string
	}{
		{"se", []string{"send", "serve", "seal", "set"}},
		{"send worker-", []string{"worker-1", "worker-2"}},
		{"send worker-1 --reply", []string{"--reply-via"}},
		{"send worker-1 --from le", []string{"lead"}},
		{"new w --adapter opencode --set mo", []string{"model="}},
		{"help gua", []string{"guarantees"}},
		{"wait lead worker-", []string{"worker-1", "worker-2"}},
		{"send worker-1 hello ", nil},
	} {
		for shell, script := range ask {
			t.Run(shell+"/"+tt.typed, func(t *testing.T) {
				b := b
				b.t = t
				got := b.completed(shell, script(tt.typed))
				slices.Sort(got)
				want := slices.Sorted(slices.Values(tt.want))
				if !slices.Equal(got, want) {
					t.Errorf("docket %s: got %q, want %q", tt.typed, got, want)
				}
			})
		}
	}
}

func quote(s string) string { return "'" + s + "'" }

// completed runs what a shell is asked, and returns its candidates without what
// they are.
func (b box) completed(shell, script string) (values []string) {
	b.t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		b.t.Skip("needs " + shell)
	}
	b.env = append(b.env, "DOCKET_HOME="+b.store(), "HOME="+b.dir)
	a := b.run("", shell, "-c", script)
	if a.status != 0 || a.err != "" {
		b.t.Fatalf("%s: status %d: %s", shell, a.status, a.err)
	}
	for line := range strings.Lines(a.out) {
		if value, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); value != "" {
			values = append(values, value)
		}
	}
	return values
}
