//go:build unix

package httpread_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/timeline/httpread"
)

// A pipe without a writer is refused at once.
func TestReadTokenWaitsForNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no pipe can be made here: %v", err)
	}
	if got, err := httpread.ReadToken(path); err == nil || !strings.Contains(err.Error(), "no plain file") {
		t.Errorf("got %q, %v, want that it is no plain file", got, err)
	}
}

func TestReadTokenOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, 65534, -1); err != nil {
		t.Fatal(err)
	}
	if got, err := httpread.ReadToken(path); err == nil || !strings.Contains(err.Error(), "belongs to another user") {
		t.Errorf("got %q, %v, want that it belongs to another user", got, err)
	}
}
