package doctor

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// holders returns which files are locked right now, and by which process, as the kernel
// says it. It is empty where it does not.
func holders() map[fileID]int {
	f, err := os.Open("/proc/locks")
	if err != nil {
		return nil
	}
	defer f.Close()
	return parseLocks(f)
}

// parseLocks reads lines such as
//
//	1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF
//
// Those of waiters have an arrow behind the number.
func parseLocks(r io.Reader) map[fileID]int {
	held := map[fileID]int{}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 6 || fields[1] != "FLOCK" {
			continue
		}
		var pid int
		var major, minor uint32
		var inode uint64
		if _, err := fmt.Sscanf(fields[4]+" "+fields[5], "%d %x:%x:%d", &pid, &major, &minor, &inode); err == nil && pid > 0 {
			held[fileID{unix.Mkdev(major, minor), inode}] = pid
		}
	}
	return held
}
