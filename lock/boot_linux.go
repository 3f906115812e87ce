package lock

import (
	"os"
	"strings"
	"sync"
)

// bootID names the running boot of the machine.
var bootID = sync.OnceValue(func() string {
	id, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return unknownBoot
	}
	return strings.TrimSpace(string(id))
})
