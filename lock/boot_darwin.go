package lock

import (
	"sync"

	"golang.org/x/sys/unix"
)

// bootID names the running boot of the machine.
var bootID = sync.OnceValue(func() string {
	id, err := unix.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return unknownBoot
	}
	return id
})
