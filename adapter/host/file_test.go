//go:build linux || darwin

package host_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/adapter/host"
)

func TestFile(t *testing.T) {
	f := host.File{Dir: t.TempDir(), Name: "thread.json"}
	var got map[string]string
	if found, err := f.Load(&got); found || err != nil {
		t.Errorf("nothing there: got %v, %v", found, err)
	}
	for _, id := range []string{"a", "b\n\"c"} {
		if err := f.Save(map[string]string{"id": id}); err != nil {
			t.Fatal(err)
		}
		if found, err := f.Load(&got); !found || err != nil || got["id"] != id {
			t.Errorf("got %v, %v, %v, want %q", got, found, err, id)
		}
	}
	for name, v := range map[string]any{"no JSON": func() {}, "more than Load reads": strings.Repeat("x", 64<<10)} {
		if err := f.Save(v); err == nil {
			t.Errorf("%s: got it saved, want an error", name)
		}
	}
	if found, err := f.Load(&got); !found || err != nil || got["id"] != "b\n\"c" {
		t.Errorf("after a failed Save: got %v, %v, %v", got, found, err)
	}
}

// What makes no sense is never read as empty, and a Save gets over whatever is there.
func TestFileThatMakesNoSense(t *testing.T) {
	f := host.File{Dir: t.TempDir(), Name: "thread.json"}
	write := func(content string) func(string) error {
		return func(path string) error { return os.WriteFile(path, []byte(content), 0o600) }
	}
	for name, plant := range map[string]func(path string) error{
		"empty": write(""), "torn": write(`{"id":"`), "two values": write("{} {}"), "NULs": write("\x00\x00"),
		"large": write(strings.Repeat(" ", 65<<10) + "{}"),
		"pipe":  func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link":  func(path string) error { return os.Symlink("/etc/hostname", path) },
	} {
		t.Run(name, func(t *testing.T) {
			must(t, os.RemoveAll(f.Path()))
			must(t, plant(f.Path()))
			var got any
			if found, err := f.Load(&got); found || !errors.Is(err, host.ErrFile) || !strings.Contains(err.Error(), f.Path()) {
				t.Errorf("got %v, %v, want %v and the path", found, err, host.ErrFile)
			}
			must(t, plant(f.Path()+".new"))
			must(t, f.Save("fine"))
			if found, err := f.Load(&got); !found || err != nil || got != "fine" {
				t.Errorf("afterwards: got %v, %v, %v", got, found, err)
			}
		})
	}
}

// A file that cannot be read may be a good one: nobody is told that it makes no sense.
func TestFileThatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	f := host.File{Dir: filepath.Join(dir, "file"), Name: "thread.json"} // fails for root, too
	if found, err := f.Load(new(any)); found || err == nil || errors.Is(err, host.ErrFile) || !strings.Contains(err.Error(), f.Path()) {
		t.Errorf("got %v, %v, want an error that is not %v, and the path", found, err, host.ErrFile)
	}
}

// TestFileKilled kills a process between any two steps of a Save.
func TestFileKilled(t *testing.T) {
	for step, want := range map[string]string{
		"adapter/smallfile: kept.json is drafted":  "old",
		"adapter/smallfile: kept.json is in place": "new",
	} {
		f := host.File{Dir: t.TempDir(), Name: "kept.json"}
		must(t, f.Save("old"))
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "HOST_TEST_ROLE=save", "HOST_TEST_DIR="+f.Dir, "HOST_TEST_STEP="+step)
		if out, err := child.CombinedOutput(); err == nil || child.ProcessState.Exited() {
			t.Fatalf("%s: got %v, %s, want it killed", step, err, out)
		}
		var got string
		if found, err := f.Load(&got); !found || err != nil || got != want {
			t.Errorf("%s: got %v, %q, %v, want %q", step, found, got, err, want)
		}
		must(t, f.Save("newer"))
		if found, err := f.Load(&got); !found || err != nil || got != "newer" {
			t.Errorf("%s: afterwards: got %v, %q, %v, want newer", step, found, got, err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
