package host

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// startOf returns when a process started, in words that no other process of that
// number has, and "" for one that is not there or a zombie.
func startOf(pid int) string {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	const zombie = 5
	if err != nil || int(info.Proc.P_pid) != pid || info.Proc.P_stat == zombie {
		return ""
	}
	return fmt.Sprintf("%d.%06d", info.Proc.P_starttime.Sec, info.Proc.P_starttime.Usec)
}
