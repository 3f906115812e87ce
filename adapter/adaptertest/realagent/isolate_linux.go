package realagent

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolated is set for the process that runs inside.
const isolated = "DOCKET_TEST_ISOLATED"

// Isolate starts the test binary again with a network of its own that has loopback
// only, in the same process. It is called first in TestMain, and returns inside,
// or outside where the kernel does not allow a network of its own, as for everyone
// but root.
func Isolate() {
	if os.Getenv(isolated) != "" {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := enter(); err != nil {
		fmt.Fprintln(os.Stderr, "realagent: not isolated:", err)
	}
}

// enter changes only this thread, which the new program gets when it is run from
// it. After an error the thread is back where it was.
func enter() error {
	before, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer before.Close()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("a network of its own: %w", err)
	}
	err = raiseLoopback()
	if err == nil {
		var self string
		if self, err = os.Executable(); err == nil {
			err = syscall.Exec(self, os.Args, append(os.Environ(), isolated+"=1"))
		}
	}
	if back := unix.Setns(int(before.Fd()), unix.CLONE_NEWNET); back != nil {
		panic(back)
	}
	return err
}

func raiseLoopback() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}
