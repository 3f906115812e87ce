// Package realagent runs real coding-agent programs in tests: it finds them, gives
// each a home of its own that points at a model server on loopback, and ends them
// with everything that they started.
//
// # What it keeps
//
// Nothing of its own. A [Home] is a temporary directory of the test.
//
// # Guarantees
//
// A program that is not installed skips the test with the command that installs
// it. A program sees the environment that the package made and nothing of the
// test's own, so no account, key or configuration of a person is ever used. Each
// process runs in a process group of its own, and the whole group is dead when
// [Process.End] returns and when the test ends. After [Isolate] in TestMain, the
// test and all its programs have no network but loopback, where the kernel and
// root allow it.
//
// # Crashes
//
// A test that is killed leaves the programs that it started running, without a
// network that leads anywhere.
//
// # Format
//
// A program NAME is looked for as $DOCKET_AGENTS/NAME/node_modules/.bin/BINARY and
// $DOCKET_AGENTS/NAME/BINARY, and then on the PATH. DOCKET_AGENTS unset means
// $HOME/.cache/docket-agents. What is written into a home is the programs' own
// format, and stands in config.go.
package realagent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A Program is one coding agent that can be installed.
type Program struct {
	Name    string   // the folder that it is installed in
	Binary  string   // the command
	Install string   // what installs it into the folder %s
	ACP     []string // the arguments with which it speaks the Agent Client Protocol; nil means that it does not
	Prompt  []string // those with which it takes one prompt on its standard input; nil means that it does not

	configure func(home, work, model string) (env []string, err error)
}

// The programs that this package can configure.
var (
	OpenCode = Program{
		Name: "opencode", Binary: "opencode", Install: npm + "opencode-ai@1.18.33",
		ACP: []string{"acp"}, Prompt: []string{"run", "--format", "json"}, configure: configureOpenCode,
	}
	Gemini = Program{
		Name: "gemini", Binary: "gemini", Install: npm + "@google/gemini-cli@0.61.0",
		ACP: []string{"-m", geminiModel, "--acp"}, Prompt: []string{"-m", geminiModel, "-o", "stream-json"}, configure: configureGemini,
	}
	Codex = Program{
		Name: "codex", Binary: "codex", Install: npm + "@openai/codex@0.171.0",
		Prompt: []string{"exec", "--json", "--skip-git-repo-check", "-"}, configure: configureCodex,
	}
	CodexACP = Program{
		Name: "codexacp", Binary: "codex-acp", Install: npm + "@zed-industries/codex-acp@0.16.0",
		ACP: []string{}, configure: configureCodex,
	}
	Pi = Program{
		Name: "pi", Binary: "pi", Install: npm + "@mariozechner/pi-coding-agent@0.73.1",
		Prompt: []string{"--offline", "--provider", "stub", "--model", "stub", "--mode", "json", "-p"}, configure: configurePi,
	}
	// ACPExample is the example agent of the Go SDK; it asks no model.
	ACPExample = Program{
		Name: "acp-example", Binary: "agent", Install: "GOBIN=%s go install github.com/coder/acp-go-sdk/example/agent@v0.13.0",
		ACP: []string{},
	}
)

const (
	npm         = "npm install --no-audit --no-fund --prefix %s "
	geminiModel = "gemini-2.5-flash"
)

// Dir returns the folder that the programs are installed in.
func Dir() string {
	if dir := os.Getenv("DOCKET_AGENTS"); dir != "" {
		return dir
	}
	home, err := os.UserHomeDir()
	if err != nil {
		home = "."
	}
	return filepath.Join(home, ".cache", "docket-agents")
}

// Find returns the path of the program. The error says how to install it.
func (p Program) Find() (string, error) {
	folder := filepath.Join(Dir(), p.Name)
	for _, path := range []string{filepath.Join(folder, "node_modules", ".bin", p.Binary), filepath.Join(folder, p.Binary)} {
		if found, err := exec.LookPath(path); err == nil {
			return filepath.Abs(found)
		}
	}
	if p.Name == p.Binary { // another name is too common to be looked for everywhere
		if found, err := exec.LookPath(p.Binary); err == nil {
			return filepath.Abs(found)
		}
	}
	return "", fmt.Errorf("%s is not installed: run %s", p.Name, fmt.Sprintf(p.Install, folder))
}

// A Home is where one program lives in one test.
type Home struct {
	Program Program
	Path    string   // of the program
	Dir     string   // its home directory
	Work    string   // its working directory, an empty one
	Env     []string // its whole environment

	t testing.TB
}

// New makes a home in which the program asks the model server at that URL, such as
// that of a fakemodel.Server. It skips the test if the program is not installed.
func New(t testing.TB, p Program, model string) *Home {
	t.Helper()
	path, err := p.Find()
	if err != nil {
		t.Skip(err)
	}
	h := &Home{Program: p, Path: path, Dir: t.TempDir(), Work: t.TempDir(), t: t}
	h.Env = []string{
		"HOME=" + h.Dir, "USERPROFILE=" + h.Dir, "TMPDIR=" + t.TempDir(), "PATH=" + searchPath(),
		"TERM=xterm-256color", "LANG=C.UTF-8", "NO_PROXY=127.0.0.1,localhost",
	}
	if p.configure == nil {
		return h
	}
	env, err := p.configure(h.Dir, h.Work, model)
	if err != nil {
		t.Fatalf("%s: configuration: %v", p.Name, err)
	}
	h.Env = append(h.Env, env...)
	return h
}

// searchPath leads to what most programs are started by, and to the usual tools.
func searchPath() string {
	path := "/usr/local/bin:/usr/bin:/bin"
	if node, err := exec.LookPath("node"); err == nil {
		path = filepath.Dir(node) + string(filepath.ListSeparator) + path
	}
	return path
}
