package smallfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/docket-go/docket/adapter/adaptertest/hosttest"
	"github.com/docket-go/docket/adapter/smallfile"
)

// TestMain also serves as the process that dies: SMALLFILE_TEST_STEP says where, and
// SMALLFILE_TEST_CALL inside what.
func TestMain(m *testing.M) {
	at := os.Getenv("SMALLFILE_TEST_STEP")
	if at == "" {
		os.Exit(m.Run())
	}
	hosttest.DieAt(at)
	_ = calls[os.Getenv("SMALLFILE_TEST_CALL")](os.Getenv("SMALLFILE_TEST_PATH"), []byte("new"))
}

var calls = map[string]func(path string, data []byte) error{
	"Replace": smallfile.Replace, "Swap": smallfile.Swap, "Create": smallfile.Create,
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := smallfile.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	return string(data)
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestReplace(t *testing.T) {
	for _, call := range []string{"Replace", "Swap"} {
		path := filepath.Join(t.TempDir(), "f")
		for _, data := range []string{"old", "", "new"} {
			if err := calls[call](path, []byte(data)); err != nil {
				t.Fatal(err)
			}
			if got := read(t, path); got != data {
				t.Errorf("%s: got %q, want %q", call, got, data)
			}
		}
		if err := os.Mkdir(path+".new", 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path+".new", "x"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := calls[call](path, []byte("newer")); err == nil || read(t, path) != "new" {
			t.Errorf("%s: got %v and %q with no place for the draft, want an error and the old file", call, err, read(t, path))
		}
		if err := calls[call](filepath.Join(path, "no", "folder"), nil); err == nil {
			t.Errorf("%s: got no error without a folder, want one", call)
		}
	}
}

// TestCreate has one of many win, and all see what that one wrote.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	won := make(chan string, 20)
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			data := fmt.Sprint("writer ", n)
			err := smallfile.Create(path, []byte(data))
			if err == nil {
				won <- data
			} else if !errors.Is(err, fs.ErrExist) {
				t.Error(err)
			}
			if read(t, path) == "" {
				t.Error("got no file behind Create, want one")
			}
		})
	}
	all.Wait()
	if len(won) != 1 || <-won != read(t, path) || !slices.Equal(names(t, dir), []string{"f"}) {
		t.Errorf("got %d winners and the files %q, want one and no draft", len(won), names(t, dir))
	}
	if err := smallfile.Create(filepath.Join(path, "x"), nil); err == nil || errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v without a folder, want another error", err)
	}
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	large := filepath.Join(dir, "large")
	if err := os.WriteFile(large, []byte(strings.Repeat("x", smallfile.MaxBytes+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{large, dir} {
		if _, err := smallfile.Read(path); !errors.Is(err, smallfile.ErrNotPlain) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: got %v, want ErrNotPlain", path, err)
		}
	}
	if _, err := smallfile.Read(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// TestKilled kills a process between any two steps, and goes on with what it leaves.
func TestKilled(t *testing.T) {
	for _, tt := range []struct{ call, step, want string }{
		{"Replace", "is drafted", "old"},
		{"Replace", "is in place", "new"},
		{"Swap", "is drafted", "old"},
		{"Create", "is drafted", ""},
	} {
		path := filepath.Join(t.TempDir(), "f")
		if tt.want != "" {
			if err := smallfile.Replace(path, []byte("old")); err != nil {
				t.Fatal(err)
			}
		}
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "SMALLFILE_TEST_STEP=adapter/smallfile: f "+tt.step, "SMALLFILE_TEST_CALL="+tt.call, "SMALLFILE_TEST_PATH="+path)
		if out, err := child.CombinedOutput(); err == nil {
			t.Fatalf("%s %s: got %s, want it killed", tt.call, tt.step, out)
		}
		if got := read(t, path); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.call, tt.step, got, tt.want)
		}
		if err := calls[tt.call](path, []byte("newer")); err != nil || read(t, path) != "newer" {
			t.Errorf("%s %s: afterwards: got %q, %v, want newer", tt.call, tt.step, read(t, path), err)
		}
	}
}
