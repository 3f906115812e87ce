package httpread_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/docket-go/docket/timeline/httpread"
)

func TestReadToken(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		mode       os.FileMode
		ok         bool
	}{
		{"as it should be", token + "\n", 0o600, true},
		{"read only", token, 0o400, true},
		{"readable by the group", token, 0o640, false},
		{"readable by all", token, 0o604, false},
		{"writable by all", token, 0o602, false},
		{"empty", "", 0o600, false},
		{"short", "abc", 0o600, false},
		{"two words", "first-token-here second", 0o600, false},
		{"endless", strings.Repeat("x", 5000), 0o600, false},
		{"not ASCII", "äöüäöüäöüäöüäöü", 0o600, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && tt.mode&0o077 != 0 {
				t.Skip("modes say nothing about other users here")
			}
			path := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(path, tt.mode); err != nil {
				t.Fatal(err)
			}
			got, err := httpread.ReadToken(path)
			if tt.ok && (err != nil || got != token) {
				t.Errorf("got %q, %v", got, err)
			}
			if !tt.ok && (err == nil || !strings.Contains(err.Error(), path)) {
				t.Errorf("got %q, %v, want an error that names the file", got, err)
			}
		})
	}
	if _, err := httpread.ReadToken(t.TempDir()); err == nil {
		t.Error("got a token from a folder")
	}
	if _, err := httpread.ReadToken(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("got a token from nowhere")
	}
}
