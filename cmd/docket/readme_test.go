package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tour of the README works as it is typed there, in an empty directory.
func TestReadmeTour(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("needs a shell")
	}
	readme, err := os.ReadFile(root + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	heading := regexp.MustCompile(`(?m)^## .*command line$`).FindIndex(readme)
	if heading == nil {
		t.Fatal("the README has no tour of the command line")
	}
	tour, _, _ := strings.Cut(string(readme[heading[1]:]), "\n## ")
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(tour, -1) {
		script.WriteString(block[1])
	}
	agents := t.TempDir() // where opencode is one that needs no model
	if err := os.WriteFile(filepath.Join(agents, "opencode"), []byte("#!/bin/sh\nexec acp-agent\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	sh := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script.String())
	sh.Dir = t.TempDir()
	sh.Env = append(os.Environ(), "PATH="+agents+string(os.PathListSeparator)+os.Getenv("PATH"))
	out, err := sh.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, script.String(), out)
	}
	for _, want := range []string{"why: ", "worker-1: 2 delivered, 0 owed", `"replayed":true`, "main, unless you object", "merged into main", "SESSION ", "ok       locks", "says: ACK explain the build\n", "worker-1: no fault"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the tour does not show %q:\n%s", want, out)
		}
	}
}
