package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module = "github.com/docket-go/docket"
	root   = "../.."
)

// A source is one Go file of the module.
type source struct {
	path   string // from the root, with slashes
	text   []byte
	tokens *token.FileSet
	file   *ast.File
}

func (s source) dir() string  { return path.Dir(s.path) }
func (s source) isTest() bool { return strings.HasSuffix(s.path, "_test.go") }

func (s source) line(p token.Pos) int { return s.tokens.Position(p).Line }

// sources returns every Go file of the module and of the modules inside it.
func sources(t *testing.T) (all []source) {
	t.Helper()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		s := source{tokens: token.NewFileSet()}
		if s.text, err = os.ReadFile(name); err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		s.path = filepath.ToSlash(rel)
		s.file, err = parser.ParseFile(s.tokens, s.path, s.text, parser.ParseComments|parser.SkipObjectResolution)
		all = append(all, s)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// layer returns how high a folder stands. A package imports what stands lower than
// itself, and what is in its own top-level folder.
func layer(dir string) int {
	switch top, _, _ := strings.Cut(dir, "/"); top {
	case "lock":
		return 0
	case "queue", "timeline", "compose", "adapter":
		return 1
	case "dispatch":
		return 2
	}
	return 3 // cmd, examples, and the package that is the module's page
}

func TestImportsPointOneWay(t *testing.T) {
	for _, s := range sources(t) {
		from, _, _ := strings.Cut(s.dir(), "/")
		for _, spec := range s.file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			dir, own := strings.CutPrefix(imported, module+"/")
			if to, _, _ := strings.Cut(dir, "/"); own && to != from && layer(dir) >= layer(s.dir()) {
				t.Errorf("%s imports %s: imports run cmd, dispatch, {queue timeline compose adapter}, lock", s.path, dir)
			}
		}
	}
}

func TestTestsDoNotSleep(t *testing.T) {
	for _, s := range sources(t) {
		if !s.isTest() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if id, ok := sel.X.(*ast.Ident); ok && id.Name == "time" {
					t.Errorf("%s:%d: time.Sleep in a test: poll with a deadline", s.path, s.line(n.Pos()))
				}
			}
			return true
		})
	}
}

func TestPackagesAreNamedAfterAThing(t *testing.T) {
	vague := []string{"util", "utils", "common", "types", "helper", "helpers", "manager", "misc", "base"}
	for _, s := range sources(t) {
		if slices.Contains(vague, strings.TrimSuffix(s.file.Name.Name, "_test")) || slices.Contains(vague, path.Base(s.dir())) {
			t.Errorf("%s: package %s is named after nothing", s.path, s.file.Name.Name)
		}
	}
}

func TestPackagesAreDocumented(t *testing.T) {
	documented := map[string]bool{}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		documented[s.dir()] = documented[s.dir()] || s.file.Doc != nil
		for _, c := range s.file.Comments {
			if strings.HasPrefix(c.Text(), "Package ") && c.End() < s.file.Package && c != s.file.Doc {
				t.Errorf("%s: a blank line stands between the package's comment and its clause", s.path)
			}
		}
	}
	for dir, ok := range documented {
		if !ok {
			t.Errorf("package %s has no comment", dir)
		}
	}
}

func TestTopLevelIsFixed(t *testing.T) {
	allowed := strings.Fields("timeline queue dispatch compose adapter lock examples cmd go.mod go.sum doc.go README.md LICENSE CONTRIBUTING.md")
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s stands at the top level, where only these may: %v", e.Name(), allowed)
		}
	}
}

func TestNoMarksAreLeft(t *testing.T) {
	marks := regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|X` + `XX|HA` + `CK)\b`)
	for _, s := range sources(t) {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				if mark := marks.FindString(c.Text); mark != "" {
					t.Errorf("%s:%d: %s: make an issue of it, or do it", s.path, s.line(c.Pos()), mark)
				}
			}
		}
	}
}

// A file's name is spelt only by the package that writes the file.
func TestFileNamesHaveOneOwner(t *testing.T) {
	owners := map[string]string{
		"pending.json": "queue", "pending.head": "queue",
		"session.json": "timeline/session", "timeline.ndjson": "timeline", "fleet.cursor": "timeline/fleet",
		"record.lock": "lock", "delivery.lock": "lock", "turns.lock": "lock",
		"host.sock": "adapter/host", "host.addr": "adapter/host", "host.lock": "adapter/host", "host.agent": "adapter/host",
		"acp-session.json": "adapter/acp", "oneshot-session.json": "adapter/oneshot", "codex-thread.json": "adapter/codex",
		"watchers.json": "dispatch/watching",
	}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			for name, owner := range owners {
				if s.dir() != owner && spells(text.Value, name) {
					t.Errorf("%s:%d: spells %s, which is %s's to name", s.path, s.line(n.Pos()), name, owner)
				}
			}
			return true
		})
	}
}

// spells reports whether the text names that file, and not one whose longer name ends
// like it.
func spells(text, name string) bool {
	return strings.Contains(text, name) && regexp.MustCompile(`(^|[^\w-])`+regexp.QuoteMeta(name)).MatchString(text)
}
