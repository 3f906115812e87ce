// Package machine says on what the figures of a run were taken, and reaches those
// calls of the operating system that contestants are compared with.
//
// # What it keeps
//
// Nothing.
//
// # Guarantees
//
// What a system does not have or does not tell is empty, or the error
// [errors.ErrUnsupported]; nothing is guessed.
//
// # Crashes
//
// Nothing of it is on disk.
//
// # Format
//
// [Machine] is one JSON object; it has no name of a host, user or path in it.
package machine

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// A Machine is what a reader of figures has to know of it.
type Machine struct {
	CPU        string `json:"cpu,omitempty"`
	Cores      int    `json:"cores"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	FileSystem string `json:"fileSystem,omitempty"` // of the directory of the run
	Go         string `json:"go"`
}

// Describe describes this machine and the file system that dir is on.
func Describe(dir string) Machine {
	return Machine{
		CPU: valueOf("/proc/cpuinfo", "model name"), Cores: runtime.GOMAXPROCS(0),
		OS: runtime.GOOS, Arch: runtime.GOARCH, FileSystem: fileSystem(dir), Go: runtime.Version(),
	}
}

// Volatile reports that the file system is in memory: a sync costs nothing there.
func (m Machine) Volatile() bool { return m.FileSystem == "tmpfs" || m.FileSystem == "ramfs" }

// valueOf returns the value of the first line "name : value" of a file.
func valueOf(path, name string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if left, right, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(left) == name {
			return strings.TrimSpace(right)
		}
	}
	return ""
}

// fileSystem is the type of the mount with the longest path that dir is below.
func fileSystem(dir string) (kind string) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	f, err := os.Open("/proc/self/mounts")
	if err != nil {
		return ""
	}
	defer f.Close()
	longest := -1
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			continue
		}
		mount := fields[1]
		below := mount == "/" || dir == mount || strings.HasPrefix(dir, mount+"/")
		if below && len(mount) >= longest {
			longest, kind = len(mount), fields[2]
		}
	}
	return kind
}

// Threads is the number of threads of this process.
func Threads() (n int, err error) { return status("Threads") }

// Growth starts to watch the memory of this process. The function that it returns
// answers by how much it was ever larger since than it was then, in bytes.
func Growth() (highest func() (int64, error), err error) {
	debug.FreeOSMemory()
	// Where the mark of the highest cannot be set back, it may be above what is
	// there now: then it hides a part of the growth.
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	before, err := status("VmRSS")
	return func() (int64, error) {
		after, err := status("VmHWM")
		return int64(after-before) << 10, err
	}, err
}

// status is a number that the system tells of this process.
func status(name string) (n int, err error) {
	fields := strings.Fields(valueOf("/proc/self/status", name))
	if len(fields) == 0 {
		return 0, errors.ErrUnsupported
	}
	return strconv.Atoi(fields[0])
}
