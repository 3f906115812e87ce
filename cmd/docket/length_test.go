package main

import (
	"bytes"
	"go/ast"
	"regexp"
	"testing"
)

func TestFilesAreShort(t *testing.T) {
	const most = 400
	for _, s := range sources(t) {
		lines := bytes.Count(s.text, []byte("\n"))
		if lines > most && (len(s.file.Comments) == 0 || !saysWhyLong(s.file.Comments[0].Text())) {
			t.Errorf("%s has %d lines: at most %d, or its first comment says why it is long", s.path, lines, most)
		}
	}
}

func TestFunctionsAreShort(t *testing.T) {
	const most = 60
	for _, s := range sources(t) {
		for _, decl := range s.file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if lines := s.line(f.End()) - s.line(f.Pos()) + 1; lines > most && !saysWhyLong(f.Doc.Text()) {
				t.Errorf("%s: %s has %d lines: at most %d, or its comment says why it is long", s.path, f.Name.Name, lines, most)
			}
		}
	}
}

// saysWhyLong recognises a reason by the word that every one needs.
func saysWhyLong(comment string) bool {
	return regexp.MustCompile(`(?i)\b(long|longer|in one piece|one table)\b`).MatchString(comment)
}
