package oneshot

import (
	"regexp"
	"strings"
	"sync"
)

// It is compiled when it is needed: a program that has this adapter mostly uses another.
var toolName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.:-]{0,63}$`) })

// titleOf returns what may be shown of a call: the name of the tool, and nothing of
// what it is given.
func titleOf(name string) string {
	if !toolName().MatchString(name) {
		return ""
	}
	return name
}

// classes are what the tools of the known programs do, by their names in lower case.
var classes = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"bash": "execute", "shell": "execute", "command": "execute", "run_shell_command": "execute", "bashoutput": "execute",
		"read": "read", "read_file": "read", "read_many_files": "read", "ls": "read", "list": "read", "list_directory": "read",
		"edit": "edit", "multiedit": "edit", "write": "edit", "write_file": "edit", "replace": "edit", "patch": "edit", "apply_patch": "edit",
		"notebookedit": "edit", "file_change": "edit",
		"grep": "search", "glob": "search", "find": "search", "search_file_content": "search", "grep_search": "search",
		"webfetch": "fetch", "web_fetch": "fetch", "websearch": "fetch", "web_search": "fetch", "google_web_search": "fetch",
	}
})

func classOf(name string) string {
	if class, known := classes()[strings.ToLower(name)]; known {
		return class
	}
	return "other"
}
