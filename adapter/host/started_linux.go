package host

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// startOf returns when a process started, in words that no other process of that
// number has, and "" for one that is not there or a zombie.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	// The name may hold anything; the fields behind it do not.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const state, start = 0, 19
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	return fields[start] + "@" + strings.TrimSpace(string(boot))
}
