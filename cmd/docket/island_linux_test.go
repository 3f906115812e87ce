package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// island runs a program with a small file system of its own, which vanishes with
// it: island DIR PROGRAM ARG... The scripts fill it up, and make it read-only.
func island() {
	if os.Getenv("ON_ISLAND") == "" {
		os.Exit(run1(islander(os.Args[1:]...)))
	}
	check(syscall.Mount("tmpfs", os.Args[1], "tmpfs", 0, "size=512k"))
	os.Exit(run1(exec.Command(os.Args[2], os.Args[3:]...)))
}

// islander is the command that is island again, in namespaces of its own.
func islander(args ...string) *exec.Cmd {
	self, err := os.Executable()
	check(err)
	cmd := exec.Command(self, args...)
	cmd.Args[0] = "island"
	cmd.Env = append(os.Environ(), "ON_ISLAND=yes")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	return cmd
}

// run1 runs a command on this process's own streams and returns its status.
func run1(cmd *exec.Cmd) int {
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}

// hasIslands reports whether this process may make mounts of its own, which needs
// user namespaces, and programs to change them with.
func hasIslands() bool {
	for _, program := range []string{"sh", "mount", "dd"} {
		if _, err := exec.LookPath(program); err != nil {
			return false
		}
	}
	dir, err := os.MkdirTemp("", "island-")
	if err != nil {
		return false
	}
	defer os.Remove(dir)
	return islander(dir, "true").Run() == nil
}
