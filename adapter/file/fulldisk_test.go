//go:build linux

package file_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/docket-go/docket/adapter"
)

const diskVariable = "FILE_TEST_DISK"

// TestFullDisk runs TestOnSmallDisk in a process that may mount a file system of
// its own.
func TestFullDisk(t *testing.T) {
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOnSmallDisk$", "-test.v")
	c.Env = append(os.Environ(), diskVariable+"="+t.TempDir())
	c.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := c.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		t.Skipf("no namespaces here: %v", err)
	case bytes.Contains(out, []byte("--- SKIP")):
		t.Skipf("no mount here: %s", out)
	case err != nil:
		t.Errorf("got %v, want a pass\n%s", err, out)
	}
}

func TestOnSmallDisk(t *testing.T) {
	dir := os.Getenv(diskVariable)
	if dir == "" {
		t.Skip("run by TestFullDisk")
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mount: %v", err)
	}
	path := filepath.Join(dir, "f")
	a := open(t, path)
	var want []string
	for i := 0; ; i++ {
		p := adapter.Prompt{MID: fmt.Sprintf("m%d", i), Text: strings.Repeat("x", 5000)}
		before, _ := os.ReadFile(path)
		err := a.Insert(t.Context(), p)
		if err == nil && i < 20 {
			want = append(want, p.MID)
			continue
		}
		if adapter.AnswerOf(err) != adapter.Refused || !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("full disk: got %v, want a refusal that is ENOSPC", err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("full disk: got %d bytes in the file, %v, want the %d from before", len(after), err, len(before))
		}
		break
	}
	small := adapter.Prompt{MID: "small", Text: "fits again"}
	if err := a.Insert(t.Context(), small); err != nil {
		t.Errorf("small prompt: got %v, want it taken", err)
	}
	equal(t, "file", mids(t, path), append(want, small.MID))
}
